"""Checks of candidate statements, and their confidence.

May import `ontology` and `extractors.grounding`.
"""
