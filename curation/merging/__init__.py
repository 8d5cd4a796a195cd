"""Statements of one entity or term moved to another, and back: merge, split, terms that an edit replaces.

May import `curation.review`.
"""
