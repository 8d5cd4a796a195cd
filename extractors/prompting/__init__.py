"""What a model is asked and how its reply is read: templates, methods, forms, grammars.

May import `ontology` and `extractors.models`.
"""
