"""From a linked question to plans: by enumeration, else by a language model; and the check of every plan.

May import `sparql.ask.plan`, `sparql.ask.linking`, and of `extractors` the chat models and prompts.
"""
