"""Reference systems, units, and measures on the ellipsoid.

May import the modules of `geo` itself.
"""
