"""Research: evaluation, training, judging, and the methods that are only compared.

May import all of `extractors`. Only `server/research` and benchmarks import it, no running server.
"""
