"""Which files of a shapes folder are read."""

from pyoxigraph import RdfFormat

FORMATS = {".ttl": RdfFormat.TURTLE, ".nt": RdfFormat.N_TRIPLES, ".rdf": RdfFormat.RDF_XML}
SUFFIXES = tuple(FORMATS)
