"""Ontology and shapes as HTML pages for people: terms, diagrams, examples, rules.

May import `ontology`, `shapes` and `server.rules`. `urbankg ontology document` writes the pages, and an
ontology's IRI answers with its own.
"""
