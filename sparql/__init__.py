"""The store and the SPARQL endpoint: storage, writing, workers, rewriting, asking.

May import `geo`, `ontology`, and of `extractors` the linker, the label Protocol and the chat model.
"""
