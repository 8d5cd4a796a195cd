"""The use of an unknown term in a client's own statement, for the proposals."""

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Triple

from curation.proposals import TermKind, Use
from ontology import Schema
from ontology.labels import local_name, split_camel_case
from sparql.model.vocabulary import RDF, RDFS


def use_of(triple: Triple, statements: Iterable[Triple], schema: Schema) -> Use:
    """How a statement uses its term that the ontology does not have, by the other statements of its batch."""
    about: dict[object, set[NamedNode]] = {}
    names: dict[object, str] = {}
    for one in statements:
        if one.predicate == RDF.type and isinstance(one.object, NamedNode) and one.object in schema.classes:
            about.setdefault(one.subject, set()).add(one.object)
        elif one.predicate == RDFS.label and isinstance(one.object, Literal):
            names[one.subject] = one.object.value
    is_type = triple.predicate == RDF.type
    term = triple.object if is_type else triple.predicate
    assert isinstance(term, NamedNode)
    value = triple.object
    return Use(
        TermKind.CLASS if is_type else TermKind.PROPERTY,
        split_camel_case(local_name(term.value)) or term.value,
        triple,
        _sorted(about.get(triple.subject, ())),
        () if is_type else _sorted(about.get(value, ())),
        value.datatype if isinstance(value, Literal) else None,
        names.get(triple.subject, ""),
        "" if is_type else names.get(value, value.value if isinstance(value, Literal) else ""),
    )


def _sorted(nodes: Iterable[NamedNode]) -> tuple[NamedNode, ...]:
    return tuple(sorted(nodes, key=lambda node: node.value))
