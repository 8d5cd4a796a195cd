"""The search of the review queue: which items match a filter."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from curation.review_columns import Column, ReviewColumns, item_of
from curation.review_facets import Cause, causes, classes, confidences, facets
from curation.review_item import State
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, PROV, RDF, REVIEW, SH, UKG

_WORDS = (RDF.reifies, UKG.quote, UKG.reply, UKG.subjectName, UKG.objectName, DCTERMS.source)
"""The properties of an item in which words are searched."""


@dataclass(frozen=True)
class ReviewFilter:
    """Which items; all given parts must match. `text` is searched in names, quotes and reasons.

    `class_` is a class of the statement's subject, in the graph or by the statement itself. An item without
    a confidence is outside of any bounds of it. `group` identifies a cause (`curation.review_facets`).
    """

    state: State | None = State.OPEN
    document: NamedNode | None = None
    shape: NamedNode | None = None
    predicate: NamedNode | None = None
    entity: NamedNode | None = None
    text: str | None = None
    severity: NamedNode | None = None
    component: NamedNode | None = None
    source: str | None = None
    class_: NamedNode | None = None
    group: str | None = None
    min_confidence: float | None = None
    max_confidence: float | None = None
    assignee: str | None = None
    """The person, or "" for items that are assigned to nobody."""


class ReviewSearch:
    """Finds items in the review graph of a store, and what they have in common."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store
        self._columns = ReviewColumns(store)

    def find(self, wanted: ReviewFilter) -> list[NamedNode]:
        """The items that match a filter, newest first."""
        found = set(self._columns.of(UKG.status))
        for matching in self._matching(wanted):
            found &= matching
        if wanted.assignee == "":
            found -= self._columns.of(UKG.assignee).keys()
        if wanted.group is not None:
            found &= self.causes(found).get(wanted.group, Cause()).items
        if wanted.class_ is not None:
            of_items = classes(self._columns, self._store, found)
            found = {item for item, values in of_items.items() if wanted.class_ in values}
        low, high = wanted.min_confidence, wanted.max_confidence
        if low is not None or high is not None:
            sure = confidences(self._columns, found)
            found = {i for i, value in sure.items() if (low or 0) <= value <= (1 if high is None else high)}
        if wanted.text:
            found &= self._mentioning(wanted.text.casefold())
        created = self._columns.of(DCTERMS.created)
        dated = sorted(((_text(created.get(item)), item.value) for item in found), reverse=True)
        return [NamedNode(name) for _, name in dated]

    def about(self, entity: NamedNode | BlankNode) -> set[NamedNode]:
        """The items whose statement has an entity as subject or object."""
        return self._subjects(UKG.subject, entity) | self._subjects(UKG.object, entity)

    def facets(self, items: Collection[NamedNode]) -> dict[str, Counter[Term | str]]:
        """The values that these items have, each with the number of items that have it."""
        return facets(self._columns, self._store, items)

    def causes(self, items: Collection[NamedNode]) -> dict[str, Cause]:
        """The causes by which these items wait, by their identifiers; most items first."""
        return causes(self._columns, items)

    def _matching(self, wanted: ReviewFilter) -> Iterator[set[NamedNode]]:
        """The items that match each part of a filter that names one value."""
        of_many = (
            (UKG.status, wanted.state.node if wanted.state else None),
            (UKG.predicate, wanted.predicate),
        )
        of_violations = (
            (SH.sourceShape, wanted.shape),
            (SH.resultSeverity, wanted.severity),
            (SH.sourceConstraintComponent, wanted.component),
        )
        of_few: tuple[tuple[NamedNode, NamedNode | Literal | None], ...] = (
            (PROV.wasDerivedFrom, wanted.document),
            (DCTERMS.source, None if wanted.source is None else Literal(wanted.source)),
            (UKG.assignee, Literal(wanted.assignee) if wanted.assignee else None),
        )
        for predicate, value in of_many:
            if value is not None:
                yield set(_having(self._columns.of(predicate), value))
        for predicate, value in of_violations:
            if value is not None:
                yield {item_of(result) for result in _having(self._columns.of(predicate), value)}
        for predicate, few in of_few:
            if few is not None:
                yield self._subjects(predicate, few)
        if wanted.entity is not None:
            yield self.about(wanted.entity)

    def _mentioning(self, text: str) -> set[NamedNode]:
        """The items with these words in a name, quote, reply, source, term or message."""
        found: set[NamedNode] = set()
        for predicate in _WORDS:
            column = self._columns.of(predicate)
            found |= {item for item, value in column.items() if _mentions(value, text)}
        messages = self._columns.of(SH.resultMessage).items()
        return found | {item_of(result) for result, value in messages if _mentions(value, text)}

    def _subjects(self, predicate: NamedNode, value: Term) -> set[NamedNode]:
        quads = self._store.match_quads(None, predicate, value, REVIEW)
        return {quad.subject for quad in quads if isinstance(quad.subject, NamedNode)}


def _having(column: Column, value: Term) -> Iterator[NamedNode]:
    return (subject for subject, one in column.items() if one == value)


def _mentions(term: Term, text: str) -> bool:
    if isinstance(term, Triple):
        return any(text in _text(one).casefold() for one in (term.subject, term.predicate, term.object))
    return text in _text(term).casefold()


def _text(term: Term | None) -> str:
    return term.value if isinstance(term, Literal | NamedNode) else ""
