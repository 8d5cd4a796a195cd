"""The graph in a SPARQL 1.1 store at another host; what such a store cannot hold stays in a local one."""
