"""Records of areas, roads, points of interest, reviews and web pages from files (UrbanKGent, 2.1 and 2.2).

May import `geo` and `extractors.text`.
"""
