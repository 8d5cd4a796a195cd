"""The plan language: a tree of sets, its JSON form, its type check, and its wording.

May import `ontology`, `sparql.model`, `sparql.ask.errors` and `sparql.ask.places`.
"""
