"""The vocabulary of all other packages of `sparql`: terms, sources of triples, changes, errors, the store
Protocol.

May import `geo`.
"""
