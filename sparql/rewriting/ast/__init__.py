"""The syntax tree of SPARQL queries: nodes, the parser, and writing a tree as text.

May import `sparql.syntax`.
"""
