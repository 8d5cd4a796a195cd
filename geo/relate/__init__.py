"""Spatial relations: RCC8, simple features, tolerance, the feature index, and relating in bulk.

May import `geo.kernel`, `geo.measure` and the modules of `geo` itself.
"""
