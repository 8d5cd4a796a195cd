"""The search of the review queue: which items match a filter."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from curation.review.review_columns import ReviewColumns
from curation.review.review_facets import (
    PROPERTIES,
    VIOLATION_PROPERTIES,
    Cause,
    causes,
    classes,
    confidences,
    facets,
)
from curation.review.review_item import State, item_of
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, PROV, RDF, REVIEW, SH, UKG

_WORDS = (RDF.reifies, UKG.quote, UKG.reply, UKG.subjectName, UKG.objectName, DCTERMS.source)
"""The properties of an item in which words are searched."""
_MESSAGES = (SH.resultMessage, UKG.messages)
"""The message of a violation, and those of all languages where there are several."""
_FEW = 5_000
"""So many settled items are looked at one by one; among more, the store looks up which match."""


@dataclass(frozen=True)
class ReviewFilter:
    """Which items; all given parts must match. `text` is searched in names, quotes and reasons.

    `class_` is a class of the statement's subject, in the graph or by the statement itself. An item without
    a confidence is outside of any bounds of it. `group` identifies a cause (`curation.review.review_facets`).
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

    def __init__(self, store: TripleStore, many_changed: Callable[[], object] = lambda: None) -> None:
        self._store = store
        self._columns = ReviewColumns(store, many_changed)

    def prepare(self, closing: Callable[[], bool] = lambda: False) -> None:
        """Read what searches of the open items need, so that the next one is quick; until `closing`."""
        of_items = (DCTERMS.created, *PROPERTIES, *_WORDS)
        for _ in self._columns.read(of_items, (*VIOLATION_PROPERTIES, UKG.messages)):
            if closing():
                return

    def find(self, wanted: ReviewFilter) -> list[NamedNode]:
        """The items that match a filter, newest first."""
        columns = self._columns
        found = self._in_state(wanted.state, self._looked_up(wanted))
        if wanted.predicate is not None:
            found = {i for i, value in columns.of(found, UKG.predicate).items() if value == wanted.predicate}
        found = self._violating(wanted, found)
        if wanted.assignee == "":
            found -= columns.of(found, UKG.assignee).keys()
        if wanted.group is not None:
            found &= self.causes(found).get(wanted.group, Cause()).items
        if wanted.class_ is not None:
            of_items = classes(columns, self._store, found)
            found = {item for item, values in of_items.items() if wanted.class_ in values}
        low, high = wanted.min_confidence, wanted.max_confidence
        if low is not None or high is not None:
            sure = confidences(columns, found)
            found = {i for i, value in sure.items() if (low or 0) <= value <= (1 if high is None else high)}
        if wanted.text:
            found = self._mentioning(wanted.text.casefold(), found)
        created = columns.of(found, DCTERMS.created)
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

    def _looked_up(self, wanted: ReviewFilter) -> set[NamedNode] | None:
        """The items that match the parts that few items match; None where a filter has no such part."""
        parts: tuple[tuple[NamedNode, NamedNode | Literal | None], ...] = (
            (PROV.wasDerivedFrom, wanted.document),
            (DCTERMS.source, None if wanted.source is None else Literal(wanted.source)),
            (UKG.assignee, Literal(wanted.assignee) if wanted.assignee else None),
        )
        matching = [self._subjects(predicate, value) for predicate, value in parts if value is not None]
        if wanted.entity is not None:
            matching.append(self.about(wanted.entity))
        return set.intersection(*matching) if matching else None

    def _in_state(self, state: State | None, among: set[NamedNode] | None) -> set[NamedNode]:
        """The items in a state, or (None) in any."""
        if state is State.OPEN:
            found = self._columns.open()
            return found if among is None else found & among
        if among is None:
            return self._subjects(UKG.status, None if state is None else state.node)
        of_items = self._columns.of(among, UKG.status)
        return {item for item, value in of_items.items() if state is None or value == state.node}

    def _violating(self, wanted: ReviewFilter, found: set[NamedNode]) -> set[NamedNode]:
        """Those of these items of which a violation has each of the values of a filter."""
        parts = (
            (SH.sourceShape, wanted.shape),
            (SH.resultSeverity, wanted.severity),
            (SH.sourceConstraintComponent, wanted.component),
        )
        for predicate, value in parts:
            if value is None:
                continue
            if wanted.state is State.OPEN or len(found) < _FEW:
                rows = self._columns.of_violations(found, predicate)
                found = {item for item, (one,) in rows if one == value}
            else:
                found &= {item_of(violation) for violation in self._subjects(predicate, value)}
        return found

    def _mentioning(self, text: str, items: set[NamedNode]) -> set[NamedNode]:
        """Those of these items with these words in a name, quote, reply, source or term, or in a message.

        A message counts in each of its languages.
        """
        found: set[NamedNode] = set()
        for predicate in _WORDS:
            column = self._columns.of(items - found, predicate)
            found |= {item for item, value in column.items() if _mentions(value, text)}
        rows = self._columns.of_violations(items - found, *_MESSAGES)
        return found | {
            item
            for item, messages in rows
            if any(message is not None and _mentions(message, text) for message in messages)
        }

    def _subjects(self, predicate: NamedNode, value: Term | None) -> set[NamedNode]:
        quads = self._store.match_quads(None, predicate, value, REVIEW)
        return {quad.subject for quad in quads if isinstance(quad.subject, NamedNode)}


def _mentions(term: Term, text: str) -> bool:
    if isinstance(term, Triple):
        return any(text in _text(one).casefold() for one in (term.subject, term.predicate, term.object))
    return text in _text(term).casefold()


def _text(term: Term | None) -> str:
    return term.value if isinstance(term, Literal | NamedNode) else ""
