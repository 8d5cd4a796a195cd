"""The graph in a SPARQL 1.1 store at another host; what such a store cannot hold is kept in a local one.

May import `sparql.model`, `sparql.protocol`, `sparql.syntax`, `sparql.storage`, `sparql.writing` and
`sparql.workers`.
"""
