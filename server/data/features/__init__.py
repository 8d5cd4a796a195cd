"""Features from the files of geographic information systems, through a mapping into the graph."""
