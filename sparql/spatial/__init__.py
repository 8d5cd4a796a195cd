"""RCC8 relations of features, kept exact by every change and computed in bulk.

May import `geo`, `sparql.model` and `sparql.storage`.
"""
