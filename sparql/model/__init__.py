"""What all other packages of `sparql` speak of: terms, sources of triples, changes, errors, the store
Protocol.

May import `geo`.
"""
