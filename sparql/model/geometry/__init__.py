"""How geometries are named: their properties, the names of features' geometries, tolerances of relations."""
