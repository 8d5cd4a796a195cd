"""Questions in plain language: link the names, plan over the linked choices, compile, run, answer.

May import `sparql.model`, `ontology`, `geo`, and of `extractors` the models, prompts, linking and text.
"""
