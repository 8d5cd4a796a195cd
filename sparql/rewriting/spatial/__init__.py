"""Spatial filters and joins answered or narrowed from the index of geometries.

May import `sparql.rewriting.ast` and `sparql.rewriting.index`.
"""
