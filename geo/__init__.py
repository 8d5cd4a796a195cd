"""Geometry: literals, reference systems, relations, measures, GeoSPARQL functions.

Imports no other package of this program.
"""
