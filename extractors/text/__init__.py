"""Text before and around the model: cleaning, splitting into sentences and chunks, reading values.

May import `extractors.english`.
"""
