"""What the items of a queue have in common: values with their numbers of items, and causes.

A cause is the shape, constraint component and path of a violation, or the component and the statement's
property where no shape refused it. An item is in the group of each of its causes. Everything is read by
property (`curation.review_columns`), not item by item.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain

from pyoxigraph import BlankNode, Literal, NamedNode

from curation.review_columns import ReviewColumns, item_of
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
_CONFIDENCE_STEPS = 10


@dataclass
class Cause:
    """One cause, its items, and the message of one of its violations as an example."""

    shape: NamedNode | None = None
    component: NamedNode | None = None
    path: str | None = None
    severity: NamedNode | None = None
    message: str = ""
    items: set[NamedNode] = field(default_factory=set)


def facets(
    columns: ReviewColumns, graph: TripleStore, items: Collection[NamedNode]
) -> dict[str, Counter[Term | str]]:
    """For each facet its values, each with the number of these items that have it.

    The facets are those of `_OF_ITEMS` and `_OF_VIOLATIONS`, `class`, and `confidence` in tenths ("0.9" holds
    .9 up to 1).
    """
    chosen = frozenset(items)
    found: dict[str, Counter[Term | str]] = {}
    for name, predicate in _OF_ITEMS.items():
        found[name] = Counter(value for item, value in columns.of(predicate).items() if item in chosen)
    items_of = {result: item_of(result) for result in columns.of(SH.sourceConstraintComponent)}
    for name, predicate in _OF_VIOLATIONS.items():
        pairs = {
            (items_of[result], value)
            for result, value in columns.of(predicate).items()
            if result in items_of and not isinstance(value, BlankNode)
        }
        found[name] = Counter(value for item, value in pairs if item in chosen)
    found["class"] = Counter(chain.from_iterable(classes(columns, graph, chosen).values()))
    steps = (
        min(int(value * _CONFIDENCE_STEPS), _CONFIDENCE_STEPS - 1)
        for value in confidences(columns, chosen).values()
    )
    found["confidence"] = Counter(f"{step / _CONFIDENCE_STEPS:.1f}" for step in steps)
    return found


def causes(columns: ReviewColumns, items: Collection[NamedNode]) -> dict[str, Cause]:
    """The causes by which these items wait, by their identifiers; most items first."""
    chosen = frozenset(items)
    property_of = columns.of(UKG.predicate)
    shape_of, path_of = columns.of(SH.sourceShape), columns.of(SH.resultPath)
    severity_of, message_of = columns.of(SH.resultSeverity), columns.of(SH.resultMessage)
    found: dict[str, Cause] = {}
    for result, component in columns.of(SH.sourceConstraintComponent).items():
        item = item_of(result)
        if item not in chosen or not isinstance(component, NamedNode):
            continue
        shape, path = shape_of.get(result), path_of.get(result, property_of.get(item))
        named = shape if isinstance(shape, NamedNode) else None
        place = path.value if isinstance(path, NamedNode | Literal) else None
        cause = found.setdefault(
            digest(named.value if named else "", component.value, place or ""),
            Cause(named, component, place),
        )
        severity, message = severity_of.get(result), message_of.get(result)
        if isinstance(severity, NamedNode) and cause.severity != SH.Violation:
            cause.severity = severity
        if isinstance(message, Literal) and (not cause.message or message.value < cause.message):
            cause.message = message.value
        cause.items.add(item)
    return dict(sorted(found.items(), key=lambda pair: (-len(pair[1].items), pair[0])))


def classes(
    columns: ReviewColumns, graph: TripleStore, items: Collection[NamedNode]
) -> dict[NamedNode, set[NamedNode]]:
    """The classes of the subject of each item's statement: those in the graph, and one that it states."""
    predicates, objects = columns.of(UKG.predicate), columns.of(UKG.object)
    of_subject: dict[Term, set[NamedNode]] = {}
    found = {}
    for item, subject in columns.of(UKG.subject).items():
        if item not in items:
            continue
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
    return {
        item: float(value.value)
        for item, value in columns.of(UKG.confidence).items()
        if item in items and isinstance(value, Literal)
    }
