"""The one write path: from a change or an update to one atomic commit.

May import `sparql.model`, `sparql.protocol`, `sparql.syntax`, `sparql.storage`, `sparql.spatial` and
`sparql.inference`.
"""
