"""The text of requests: tokens, facts about a request, update operations and templates, syntax errors in
words.

May import `sparql.model`.
"""
