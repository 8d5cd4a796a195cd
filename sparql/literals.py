"""A literal outside its datatype's lexical space is refused on every route, shapes or no shapes.

A geometry that is read but breaks the simple-feature rules is mended where it is used and a warning is given
here, or it is refused too, as the setting says. The literal itself is kept as it was written.
"""

from functools import lru_cache
from typing import Literal as OneOf

import rdflib
from pyoxigraph import Literal, NamedNode, Triple

from geo.errors import GeometryError
from geo.literals import is_geometry_literal, read_geometry
from sparql.change import Violation
from sparql.vocabulary import SH, UKG, XSD

InvalidGeometry = OneOf["repair", "refuse"]


def literal_violations(triple: Triple, invalid: InvalidGeometry = "repair") -> tuple[Violation, ...]:
    """Violations of RDF 1.1 section 3.3 (lexical space) and GeoSPARQL 1.1 section 8 (geometry literals).

    One of severity `sh:Warning` tells of a geometry that was mended.
    """
    value = triple.object
    if not isinstance(value, Literal):
        return ()
    problem = _problem(value, invalid)
    if problem is None:
        return ()
    component, message, severity = problem
    return (
        Violation(
            focus=triple.subject,
            message=message,
            component=component,
            path=triple.predicate.value,
            value=value,
            severity=severity,
        ),
    )


@lru_cache(maxsize=8192)
def _problem(literal: Literal, invalid: InvalidGeometry) -> tuple[NamedNode, str, NamedNode] | None:
    """What is wrong with a literal: component, message and severity."""
    if is_geometry_literal(literal):
        try:
            fault = read_geometry(literal, invalid).repair
        except GeometryError as error:
            return UKG.MalformedLiteral, str(error), SH.Violation
        if fault is None:
            return None
        told = f"The geometry is not valid: {fault}. It is mended where it is used; better mend it there."
        return UKG.RepairedGeometry, told, SH.Warning
    if literal.datatype in XSD and literal.datatype != XSD.string:
        parsed = rdflib.Literal(literal.value, datatype=rdflib.URIRef(literal.datatype.value))
        if parsed.ill_typed:
            name = literal.datatype.value.removeprefix(XSD.iri)
            told = f"'{literal.value}' is not a value of xsd:{name}; write it in that datatype's form."
            return UKG.MalformedLiteral, told, SH.Violation
    return None
