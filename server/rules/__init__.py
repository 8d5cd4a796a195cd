"""The ontology and shapes in force, their versions, and edits of them.

May import `shapes`, `curation`, `sparql` and `ontology`, and of the server its errors and reports.
"""
