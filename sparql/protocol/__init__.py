"""The SPARQL 1.1 Protocol without HTTP: requests, formats, negotiation, conditions, description, federation.

May import `sparql.model` and `sparql.syntax`.
"""
