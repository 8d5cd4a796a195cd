"""Reading an English text by the ontology's labels, without a model; imports `wording` only."""
