"""The embedded model: SmolLM2-135M with our adapter, in a child process.

May import the modules of `extractors.models` itself.
"""
