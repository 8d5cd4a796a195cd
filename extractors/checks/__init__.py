"""Reasons to keep a candidate back, and its confidence.

May import `ontology` and `extractors.grounding`.
"""
