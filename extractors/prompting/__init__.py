"""Prompts and the reading of replies: templates, methods, forms, grammars.

May import `ontology` and `extractors.models`.
"""
