"""The generated pages of the documentation: `python -m server.cli.reference` writes them, a test compares.

May import all of `server`; nothing else imports it.
"""
