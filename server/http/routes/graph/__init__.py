"""Routes over the graph: SPARQL, graph store, changes, entities, storage, relations."""
