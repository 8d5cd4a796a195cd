"""What is reported of a plan's results: sentence, map, follow-up, and what is missing.

May import `sparql.ask.plan`, `sparql.ask.linking` and `sparql.ask.compile`.
"""
