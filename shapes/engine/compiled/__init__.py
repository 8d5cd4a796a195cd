"""Shapes compiled to tests on the store's own terms, which surely confirm conformance or leave it open."""
