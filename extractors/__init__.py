"""From text to candidate statements: language models, prompts, the linker and the extraction pipeline.

May import `geo` and `ontology`.
"""
