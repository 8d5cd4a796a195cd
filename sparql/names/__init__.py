"""The index of names, entity resolution, and the default geocoder.

May import `geo`, `sparql.model`, `sparql.spatial` and the linker of `extractors`.
"""
