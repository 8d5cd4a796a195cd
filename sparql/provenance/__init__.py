"""Where every statement comes from: PROV-O records and the evidence that they hold.

May import `sparql.model`.
"""
