"""Loading, relating, dumping and backing up.

May import `curation`, `shapes`, `sparql`, `ontology` and `geo`, and of the server its runtime context.
"""
