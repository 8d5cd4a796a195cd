"""A literal outside its datatype's lexical space is refused on every route, shapes or no shapes."""

from functools import lru_cache

import rdflib
from pyoxigraph import Literal, Triple

from geo.errors import GeometryError
from geo.literals import is_geometry_literal, parse_geometry
from sparql.change import Violation
from sparql.vocabulary import UKG, XSD


def literal_violations(triple: Triple) -> tuple[Violation, ...]:
    """Violations of RDF 1.1 section 3.3 (lexical space) and GeoSPARQL 1.1 section 8 (geometry literals)."""
    value = triple.object
    if not isinstance(value, Literal):
        return ()
    problem = _problem(value)
    if problem is None:
        return ()
    return (
        Violation(
            focus=triple.subject,
            message=problem,
            component=UKG.MalformedLiteral,
            path=triple.predicate.value,
            value=value,
        ),
    )


@lru_cache(maxsize=8192)
def _problem(literal: Literal) -> str | None:
    if is_geometry_literal(literal):
        try:
            parse_geometry(literal)
        except GeometryError as error:
            return str(error)
        return None
    if literal.datatype in XSD and literal.datatype != XSD.string:
        parsed = rdflib.Literal(literal.value, datatype=rdflib.URIRef(literal.datatype.value))
        if parsed.ill_typed:
            name = literal.datatype.value.removeprefix(XSD.iri)
            return f"'{literal.value}' is not a value of xsd:{name}; write it in that datatype's form."
    return None
