"""The W3C SPARQL test suites, run against this server: what `benchmarks/conformance.py` is made of."""
