"""The review queue: its items, their search, who decides about them, and the exceptions among them.

May import nothing else of `curation`.
"""
