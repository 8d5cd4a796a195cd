"""The embedded store: Oxigraph in a folder, checkpoints, backups, dumps, durability, the change log.

May import `sparql.model` and `sparql.protocol`.
"""
