"""The grammar of questions: rules by what they are about, each a table of two categories and what they make.

May import `sparql.ask.plan`, `sparql.ask.linking.readings` and the items, quantities and rules of `planning`.
"""
