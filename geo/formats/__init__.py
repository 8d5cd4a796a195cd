"""Geometry literals in and out: WKT, GeoJSON, GML, KML.

May import `geo.measure` and the modules of `geo` itself.
"""
