"""The checks of ontology files by `urbankg check`, and the formats of their reports.

May import the modules of `ontology` itself.
"""
