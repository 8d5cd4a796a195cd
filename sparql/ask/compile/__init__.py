"""From a checked plan to SPARQL that is valid and within the ontology by construction.

May import `ontology`, `sparql.model`, `sparql.ask.places` and `sparql.ask.plan`.
"""
