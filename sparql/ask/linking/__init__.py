"""From a question to readings: which spans name what in the graph, its ontology, or the language.

May import `ontology`, `extractors.grounding`, `extractors.english`, `sparql.model` and `sparql.ask.plan`.
"""
