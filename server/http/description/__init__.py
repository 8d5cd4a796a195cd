"""What `/openapi.json` says of the routes: the models of their answers, identifiers and examples.

The models describe and do not build answers: routes write their JSON themselves, and tests compare every
answer.
"""
