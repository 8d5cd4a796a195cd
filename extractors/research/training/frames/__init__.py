"""Frames and name pools, and what is composed of them: passages, fields of forms, questions."""
