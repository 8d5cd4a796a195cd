"""What happens to statements after the gate: review, documents, proposals, merging, place conflicts.

May import `geo`, `ontology`, `sparql` and `shapes`.
"""
