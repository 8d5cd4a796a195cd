"""Language models: the `ChatModel` Protocol, its adapters, and what calls cost.

May import `extractors.errors`.
"""
