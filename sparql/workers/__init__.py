"""Queries run in worker processes on read-only checkpoints, where they can be stopped.

May import `sparql.model`, `sparql.protocol`, `sparql.syntax`, `sparql.storage`, `sparql.writing` and
`sparql.rewriting`.
"""
