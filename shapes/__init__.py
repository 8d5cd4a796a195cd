"""The SHACL files, the gate over them, and their authoring.

May import `geo`, `ontology` and `sparql`.
"""
