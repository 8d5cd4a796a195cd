"""Geometry: literals, reference systems, relations, measures, GeoSPARQL functions. Imports nothing of
ours."""
