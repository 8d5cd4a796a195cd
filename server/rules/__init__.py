"""The ontology and shapes in force, their versions, and how an edit is put in force."""
