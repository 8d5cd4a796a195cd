"""The embedded model: a base with an adapter, in a child process.

May import the modules of `extractors.models` itself.
"""
