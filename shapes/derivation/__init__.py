"""Rules of shapes (SHACL Advanced Features, 8), drawn for focus nodes. Imports shapes/ and sparql/."""
