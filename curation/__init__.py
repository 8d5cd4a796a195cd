"""What happens to statements after the gate: review, documents, proposals, merging, place conflicts.

May import `geo`, `ontology`, `sparql` and `shapes`. The packages within import in one direction: `review` is
below the modules here and `merging`, and those are below `deciding`.
"""
