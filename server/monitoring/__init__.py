"""What operators look back at: the gate's verdicts by shape over time, and slow queries.

Imports `sparql` and `server.errors`; routes and the wiring import it.
"""
