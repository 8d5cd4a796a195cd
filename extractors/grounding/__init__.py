"""From the model's words to the graph's terms: mentions, the one linker, relation words, new IRIs.

May import `ontology`, `geo`, `extractors.text`, `extractors.english` and `extractors.prompting`.
"""
