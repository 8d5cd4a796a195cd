"""Text before and around the model: cleaning, splitting into sentences and chunks.

May import `extractors.errors`.
"""
