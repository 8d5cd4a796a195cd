"""A literal outside its datatype's lexical space is refused on every route, with or without shapes.

A geometry that parses but breaks the simple-feature rules is repaired where it is used, with a warning, or
refused, depending on the setting. The literal itself is stored as written.
"""

from collections.abc import Iterable
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode, Triple

from geo.errors import GeometryError
from geo.remembered import remembered
from geo.vocabulary import GEOMETRY_LITERALS
from sparql.model.change import Rejection, Statement, Violation
from sparql.model.datatypes.lexical import in_lexical_space
from sparql.model.vocabulary import RDF, SH, UKG, XSD

InvalidGeometry = OneOf["repair", "refuse"]
_PLAIN = frozenset((XSD.string.value, RDF.langString.value))


def literal_violations(triple: Triple, invalid: InvalidGeometry = "repair") -> tuple[Violation, ...]:
    """Violations of RDF 1.1 section 3.3 (lexical space) and GeoSPARQL 1.1 section 8 (geometry literals).

    A violation of severity `sh:Warning` reports a geometry that was repaired.
    """
    value = triple.object
    if not isinstance(value, Literal):
        return ()
    datatype = value.datatype.value
    if datatype in _PLAIN:
        return ()
    problem = _problem(value, datatype, invalid)
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


def sort_out(
    additions: Iterable[Statement], invalid: InvalidGeometry = "repair"
) -> tuple[tuple[Statement, ...], list[Rejection], list[Rejection]]:
    """Statements with valid literals, those without, and warnings about the former."""
    sound: list[Statement] = []
    malformed: list[Rejection] = []
    repaired: list[Rejection] = []
    for statement in additions:
        violations = literal_violations(statement.triple, invalid)
        if any(violation.blocking for violation in violations):
            malformed.append(Rejection(statement, violations))
            continue
        sound.append(statement)
        if violations:
            repaired.append(Rejection(statement, violations))
    return tuple(sound), malformed, repaired


@remembered((200, 8192))
def _problem(
    literal: Literal, datatype: str, invalid: InvalidGeometry
) -> tuple[NamedNode, str, NamedNode] | None:
    """The fault of a literal: component, message and severity."""
    if datatype.startswith(XSD.iri):
        name = datatype.removeprefix(XSD.iri)
        if in_lexical_space(name, literal.value):
            return None
        message = f"'{literal.value}' is not a value of xsd:{name}; write it in that datatype's form."
        return UKG.MalformedLiteral, message, SH.Violation
    if literal.datatype in GEOMETRY_LITERALS:
        # Imported with the first geometry: a store opens and answers before it is written to.
        from geo.formats.literals import read_geometry

        try:
            fault = read_geometry(literal, invalid).repair
        except GeometryError as error:
            return UKG.MalformedLiteral, str(error), SH.Violation
        if fault is None:
            return None
        message = (
            f"The geometry is not valid: {fault}. It is repaired where it is used; better repair the source."
        )
        return UKG.RepairedGeometry, message, SH.Warning
    return None
