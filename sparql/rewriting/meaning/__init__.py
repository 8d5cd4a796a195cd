"""What a query means beyond its triples: inference, derived relations, text match, topology properties.

May import `sparql.rewriting.ast`.
"""
