"""The commands of ontology engineers: check, impact, generated shapes, and files added or documented."""
