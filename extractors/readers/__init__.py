"""Methods of reading triples out of a chunk of text, behind one Protocol; `opening.open_reader` chooses.

May import `ontology`, `extractors.models`, `extractors.prompting`, `extractors.text` and `extractors.grounding`.
"""
