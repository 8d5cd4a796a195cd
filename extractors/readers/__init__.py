"""Methods of reading triples out of a chunk of text, behind one Protocol; `opening.open_reader` chooses.

May import `ontology`, and of `extractors`: `models`, `prompting`, `text` and `grounding`.
"""
