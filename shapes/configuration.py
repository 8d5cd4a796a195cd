"""Which files of a shapes folder are read, and how much of the ontology's axioms generated shapes demand."""

from typing import Literal

from pyoxigraph import RdfFormat

FORMATS = {".ttl": RdfFormat.TURTLE, ".nt": RdfFormat.N_TRIPLES, ".rdf": RdfFormat.RDF_XML}
SUFFIXES = tuple(FORMATS)


Generation = Literal["off", "contradictions", "closed"]
"""Nothing; what contradicts an axiom is refused; or also what is not known to satisfy one."""

_FLAGS = {"true": "closed", "1": "closed", "false": "off", "0": "off"}


def generation_of(value: object) -> object:
    """A mode as settings may write it: the flag of earlier versions is read too."""
    return _FLAGS.get(str(value).strip().lower(), value)
