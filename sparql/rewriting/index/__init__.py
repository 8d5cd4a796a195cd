"""The index of geometries that rewriting asks: geometries, features, and the state of a revision.

May import `geo`, `sparql.model` and `sparql.spatial`.
"""
