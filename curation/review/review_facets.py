"""What the items of a queue have in common: values with their numbers of items, and causes.

A cause is the shape, constraint component and path of a violation, or the component and the statement's
property where no shape refused it. An item is in the group of each of its causes. Everything is read by
property (`curation.review.review_columns`), not item by item.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain

from pyoxigraph import BlankNode, Literal, NamedNode

from curation.review.review_columns import ReviewColumns
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, DEFAULT, PROV, RDF, SH, UKG
from sparql.provenance.records import digest

_OF_ITEMS = {
    "status": UKG.status,
    "predicate": UKG.predicate,
    "document": PROV.wasDerivedFrom,
    "source": DCTERMS.source,
    "assignee": UKG.assignee,
}
_OF_VIOLATIONS = {
    "severity": SH.resultSeverity,
    "component": SH.sourceConstraintComponent,
    "shape": SH.sourceShape,
}
_OF_CAUSES = (
    SH.sourceConstraintComponent,
    SH.sourceShape,
    SH.resultPath,
    SH.resultSeverity,
    SH.resultMessage,
)
_CONFIDENCE_STEPS = 10
PROPERTIES = (*_OF_ITEMS.values(), UKG.subject, UKG.object, UKG.confidence)
"""Of an item: all that facets and causes are made of."""
VIOLATION_PROPERTIES = tuple(dict.fromkeys((*_OF_VIOLATIONS.values(), *_OF_CAUSES)))
"""The same of a violation."""


@dataclass
class Cause:
    """One cause, its items, and the message of one of its violations as an example."""

    shape: NamedNode | None = None
    component: NamedNode | None = None
    path: str | None = None
    severity: NamedNode | None = None
    message: str = ""
    example: tuple[NamedNode, ...] = ()
    """The item of the message."""
    items: set[NamedNode] = field(default_factory=set)


def facets(
    columns: ReviewColumns, graph: TripleStore, items: Collection[NamedNode]
) -> dict[str, Counter[Term | str]]:
    """For each facet its values, each with the number of these items that have it.

    The facets are those of `_OF_ITEMS` and `_OF_VIOLATIONS`, `class`, and `confidence` in tenths ("0.9" holds
    .9 up to 1).
    """
    found: dict[str, Counter[Term | str]] = {}
    for name, predicate in _OF_ITEMS.items():
        found[name] = Counter(columns.of(items, predicate).values())
    pairs: dict[str, set[tuple[NamedNode, Term]]] = {name: set() for name in _OF_VIOLATIONS}
    for item, values in columns.of_violations(items, *_OF_VIOLATIONS.values()):
        for name, value in zip(_OF_VIOLATIONS, values, strict=True):
            if value is not None and not isinstance(value, BlankNode):
                pairs[name].add((item, value))
    for name, values_of_items in pairs.items():
        found[name] = Counter(value for _, value in values_of_items)
    found["class"] = Counter(chain.from_iterable(classes(columns, graph, items).values()))
    steps = (
        min(int(value * _CONFIDENCE_STEPS), _CONFIDENCE_STEPS - 1)
        for value in confidences(columns, items).values()
    )
    found["confidence"] = Counter(f"{step / _CONFIDENCE_STEPS:.1f}" for step in steps)
    return found


def causes(columns: ReviewColumns, items: Collection[NamedNode]) -> dict[str, Cause]:
    """The causes by which these items wait, by their identifiers; most items first."""
    property_of = columns.of(items, UKG.predicate)
    found: dict[str, Cause] = {}
    for item, (component, shape, path, severity, message) in columns.of_violations(items, *_OF_CAUSES):
        if not isinstance(component, NamedNode):
            continue
        path = property_of.get(item) if path is None else path
        named = shape if isinstance(shape, NamedNode) else None
        place = path.value if isinstance(path, NamedNode | Literal) else None
        cause = found.setdefault(
            digest(named.value if named else "", component.value, place or ""),
            Cause(named, component, place),
        )
        if isinstance(severity, NamedNode) and cause.severity != SH.Violation:
            cause.severity = severity
        if isinstance(message, Literal) and (not cause.message or message.value < cause.message):
            cause.message, cause.example = message.value, (item,)
        cause.items.add(item)
    return dict(sorted(found.items(), key=lambda pair: (-len(pair[1].items), pair[0])))


def classes(
    columns: ReviewColumns, graph: TripleStore, items: Collection[NamedNode]
) -> dict[NamedNode, set[NamedNode]]:
    """The classes of the subject of each item's statement: those in the graph, and one that it states."""
    predicates, objects = columns.of(items, UKG.predicate), columns.of(items, UKG.object)
    of_subject: dict[Term, set[NamedNode]] = {}
    found = {}
    for item, subject in columns.of(items, UKG.subject).items():
        if subject not in of_subject:
            values = (quad.object for quad in graph.match_quads(subject, RDF.type, None, DEFAULT))
            of_subject[subject] = {value for value in values if isinstance(value, NamedNode)}
        found[item] = of_subject[subject]
        stated = objects.get(item) if predicates.get(item) == RDF.type else None
        if isinstance(stated, NamedNode):
            found[item] = {stated, *of_subject[subject]}
    return found


def confidences(columns: ReviewColumns, items: Collection[NamedNode]) -> dict[NamedNode, float]:
    """The confidence of each of these items that has one."""
    values = columns.of(items, UKG.confidence).items()
    return {item: float(value.value) for item, value in values if isinstance(value, Literal)}
