"""Loads features from GIS files into the graph, through a mapping.

May import `geo`, `sparql` and the modules of `server.data`.
"""
