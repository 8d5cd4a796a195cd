"""Materialized rule inference: the rules, the chase that follows changes, and the stored inferences.

May import `sparql.model`.
"""
