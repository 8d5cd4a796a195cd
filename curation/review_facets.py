"""What the items of a queue have in common: values with their numbers of items, and causes.

A cause is the shape, constraint component and path of a violation, or the component and the statement's
property where no shape refused it. An item is in the group of each of its causes. Everything is read by
property over the review graph, not item by item.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, DEFAULT, PROV, RDF, REVIEW, SH, UKG
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


def item_of(result: NamedNode) -> NamedNode:
    """The item that a violation belongs to."""
    return NamedNode(result.value.rpartition("/")[0])


def facets(store: TripleStore, items: Collection[NamedNode]) -> dict[str, Counter[Term | str]]:
    """For each facet its values, each with the number of these items that have it.

    The facets are those of `_OF_ITEMS` and `_OF_VIOLATIONS`, `class`, and `confidence` in tenths ("0.9" holds
    .9 up to 1).
    """
    chosen = frozenset(items)
    found: dict[str, Counter[Term | str]] = {}
    for name, predicate in _OF_ITEMS.items():
        found[name] = Counter(value for item, value in _of(store, predicate) if item in chosen)
    for name, predicate in _OF_VIOLATIONS.items():
        pairs = {(item_of(result), value) for result, value in _of(store, predicate)}
        found[name] = Counter(
            value for item, value in pairs if item in chosen and not isinstance(value, BlankNode)
        )
    found["class"] = Counter(class_ for item in chosen for class_ in classes(store, item))
    steps = (
        min(int(value * _CONFIDENCE_STEPS), _CONFIDENCE_STEPS - 1)
        for value in confidences(store, chosen).values()
    )
    found["confidence"] = Counter(f"{step / _CONFIDENCE_STEPS:.1f}" for step in steps)
    return found


def causes(store: TripleStore, items: Collection[NamedNode]) -> dict[str, Cause]:
    """The causes by which these items wait, by their identifiers; most items first."""
    chosen = frozenset(items)
    property_of = dict(_of(store, UKG.predicate))
    shape_of, path_of = dict(_of(store, SH.sourceShape)), dict(_of(store, SH.resultPath))
    severity_of, message_of = dict(_of(store, SH.resultSeverity)), dict(_of(store, SH.resultMessage))
    found: dict[str, Cause] = {}
    for result, component in _of(store, SH.sourceConstraintComponent):
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


def classes(store: TripleStore, item: NamedNode) -> set[NamedNode]:
    """The classes of the subject of an item's statement: those of the graph, and the one that it states."""
    found: set[NamedNode] = set()
    for quad in store.match_quads(item, RDF.reifies, None, REVIEW):
        if not isinstance(quad.object, Triple):
            continue
        stated = quad.object
        typed = store.match_quads(stated.subject, RDF.type, None, DEFAULT)
        values = [one.object for one in typed]
        if stated.predicate == RDF.type:
            values.append(stated.object)
        found |= {value for value in values if isinstance(value, NamedNode)}
    return found


def confidences(store: TripleStore, items: Collection[NamedNode]) -> Mapping[NamedNode, float]:
    """The confidence of each of these items that has one."""
    return {
        item: float(value.value)
        for item, value in _of(store, UKG.confidence)
        if item in items and isinstance(value, Literal)
    }


def _of(store: TripleStore, predicate: NamedNode) -> Iterator[tuple[NamedNode, Term]]:
    """The subjects and values of a property of the review graph."""
    for quad in store.match_quads(None, predicate, None, REVIEW):
        if isinstance(quad.subject, NamedNode):
            yield quad.subject, quad.object
