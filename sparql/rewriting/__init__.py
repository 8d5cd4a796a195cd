"""Rewriting of queries before they reach a reader: what a request asks for, and what makes it fast."""
