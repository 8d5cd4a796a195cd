"""The search of the review queue: which items match a filter, and what they have in common.

A cause is the shape, constraint component and path of a violation, or the component and the statement's
property where no shape refused it. An item is in the group of each of its causes.

Everything is read by property, not item by item. The store takes some 50 ms to read one property of 10,000
items, so those of the open items are kept in memory, from when they are first needed until the items are
settled. What is settled is read from the store: memory follows the queue and not its history. A server reads
them when it starts, and again behind the commits that change many items: all that a search of 10,000 items
with 40,000 violations needs takes 2.4 s.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from threading import Lock

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from curation.review.review_item import State, item_of
from sparql.model.source import Term
from sparql.model.triple_store import CommittedQuads, TripleStore
from sparql.model.vocabulary import DCTERMS, DEFAULT, PROV, RDF, REVIEW, SH, UKG
from sparql.provenance.records import digest

Column = dict[NamedNode, Term]
"""The values of one property by their items."""
ViolationColumn = dict[NamedNode, tuple[Term | None, ...]]
"""The values of one property of each item's violations; the violations are in one order in all columns."""

_MANY_CHANGED = 200
"""Where so many items changed since the last search, they are read again before the next (some .1 s)."""
_MOST_CHANGED = 2_000
"""Where more items changed since the last search, reading the columns again is as fast."""


class ReviewColumns:
    """Follows a store. Only for properties of which an item, or a violation, has at most one value.

    `many_changed` is called in a commit after which the next search would take long, and returns at once.
    """

    def __init__(self, store: TripleStore, many_changed: Callable[[], object] = lambda: None) -> None:
        self._store = store
        self._many_changed = many_changed
        self._lock = Lock()
        """Held for a moment, by commits as well."""
        self._reading = Lock()
        """Held by a search that reads from the store."""
        self._open: _OpenItems | None = None
        store.local.follow(self)

    def open(self) -> set[NamedNode]:
        """The open items, with all that was committed before this call."""
        with self._reading:
            return set(self._current().items)

    def read(self, of_items: Iterable[NamedNode], of_violations: Iterable[NamedNode]) -> Iterator[None]:
        """Read these properties of the open items; between two of them a search can go on."""
        for predicate in of_items:
            with self._reading:
                self._current().column(predicate)
            yield
        for predicate in of_violations:
            with self._reading:
                self._current().violation_column(predicate)
            yield

    def of(self, items: Collection[NamedNode], predicate: NamedNode) -> Column:
        """The values of a property of these items, with all that was committed before this call."""
        with self._reading:
            held = self._current()
            column = held.column(predicate)
            found = {item: column[item] for item in items if item in column}
            settled = [item for item in items if item not in held.items]
        for item in settled:
            value = _value(self._store, item, predicate)
            if value is not None:
                found[item] = value
        return found

    def of_violations(
        self, items: Collection[NamedNode], *predicates: NamedNode
    ) -> Iterator[tuple[NamedNode, tuple[Term | None, ...]]]:
        """For each violation of these items the item and the values of these properties."""
        with self._reading:
            held = self._current()
            columns = [held.violation_column(predicate) for predicate in predicates]
            rows = [(item, tuple(column[item] for column in columns)) for item in items if item in held.items]
            settled = [item for item in items if item not in held.items]
        for item, values in rows:
            for row in zip(*values, strict=True):
                yield item, row
        for item in settled:
            for violation in _violations(self._store, item):
                of_violation = _values(self._store, violation)
                yield item, tuple(of_violation.get(predicate) for predicate in predicates)

    def committed(self, commit: CommittedQuads, _since: int) -> None:
        """Note which items a commit changed."""
        with self._lock:
            if self._open is None:
                return
            changed = self._open.changed
            before = len(changed)
            for quads in (commit.removals, commit.additions):
                for quad in quads:
                    subject = quad.subject
                    if quad.graph_name == REVIEW and isinstance(subject, NamedNode):
                        changed.add(item_of(subject))
            if len(changed) > _MOST_CHANGED:
                self._open = None
        if before <= _MANY_CHANGED < len(changed):
            self._many_changed()

    def lost_track(self) -> None:
        """Read everything again when it is next needed."""
        with self._lock:
            self._open = None

    def _current(self) -> "_OpenItems":
        """The open items as they are now; called with `_reading` held."""
        with self._lock:
            held = self._open
            if held is None:
                # Commits are noted while the items are read.
                self._open = held = _OpenItems(self._store)
            changed, held.changed = held.changed, set()
        held.read()
        for item in changed:
            held.refresh(item)
        return held


class _OpenItems:
    """The open items of a store, and what was read of them."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store
        self.changed: set[NamedNode] = set()
        """Changed since they were read."""
        self.items: dict[NamedNode, NamedNode] = {}
        """One object for each, which the columns share."""
        self._is_read = False
        self._is_most = False
        """Whether most items of the store are open: then a property is read as a whole."""
        self._columns: dict[NamedNode, Column] = {}
        self._violations: dict[NamedNode, tuple[NamedNode, ...]] | None = None
        """The violations of each item, once they are needed."""
        self._violation_columns: dict[NamedNode, ViolationColumn] = {}

    def read(self) -> None:
        """Read which items are open, unless that is known."""
        if self._is_read:
            return
        quads = self._store.match_quads(None, UKG.status, State.OPEN.node, REVIEW)
        items = (quad.subject for quad in quads)
        self.items = {item: item for item in items if isinstance(item, NamedNode)}
        most = 2 * len(self.items)
        every = self._store.match_quads(None, UKG.status, None, REVIEW)
        self._is_most = len(list(islice(every, most + 1))) <= most
        self._is_read = True

    def column(self, predicate: NamedNode) -> Column:
        """The values of a property of the open items; not to be changed."""
        if predicate not in self._columns:
            value_of = self._reader(predicate)
            values = ((item, value_of(item)) for item in self.items)
            self._columns[predicate] = {item: value for item, value in values if value is not None}
        return self._columns[predicate]

    def violation_column(self, predicate: NamedNode) -> ViolationColumn:
        """The values of a property of the violations of the open items; not to be changed."""
        if self._violations is None:
            self._violations = self._violations_of_items()
        if predicate not in self._violation_columns:
            value_of = self._reader(predicate)
            self._violation_columns[predicate] = {
                item: tuple(map(value_of, violations)) for item, violations in self._violations.items()
            }
        return self._violation_columns[predicate]

    def refresh(self, item: NamedNode) -> None:
        """Read an item again, which may be open no longer, or be open now."""
        item = self.items.pop(item, item)
        values = _values(self._store, item)
        is_open = values.get(UKG.status) == State.OPEN.node
        if is_open:
            self.items[item] = item
        for predicate, column in self._columns.items():
            column.pop(item, None)
            if is_open and predicate in values:
                column[item] = values[predicate]
        if self._violations is None:
            return
        self._violations.pop(item, None)
        for violation_column in self._violation_columns.values():
            violation_column.pop(item, None)
        if is_open:
            violations = self._violations[item] = _violations(self._store, item)
            of_violations = [_values(self._store, violation) for violation in violations]
            for predicate, violation_column in self._violation_columns.items():
                violation_column[item] = tuple(one.get(predicate) for one in of_violations)

    def _violations_of_items(self) -> dict[NamedNode, tuple[NamedNode, ...]]:
        if not self._is_most:
            return {item: _violations(self._store, item) for item in self.items}
        found: dict[NamedNode, list[NamedNode]] = {item: [] for item in self.items}
        for quad in self._store.match_quads(None, UKG.violation, None, REVIEW):
            item, violation = quad.subject, quad.object
            if isinstance(item, NamedNode) and isinstance(violation, NamedNode) and item in found:
                found[item].append(violation)
        return {item: tuple(violations) for item, violations in found.items()}

    def _reader(self, predicate: NamedNode) -> Callable[[NamedNode], Term | None]:
        """Reads a value of an item or violation; equal values are one object."""
        one: dict[Term, Term] = {}

        def shared(value: Term) -> Term:
            return one.setdefault(value, value)

        if self._is_most:
            quads = self._store.match_quads(None, predicate, None, REVIEW)
            values = {quad.subject: shared(quad.object) for quad in quads}
            return values.get

        def read(node: NamedNode) -> Term | None:
            value = _value(self._store, node, predicate)
            return None if value is None else shared(value)

        return read


def _value(store: TripleStore, node: NamedNode, predicate: NamedNode) -> Term | None:
    quads = store.match_quads(node, predicate, None, REVIEW)
    return next((quad.object for quad in quads), None)


def _values(store: TripleStore, node: NamedNode) -> dict[NamedNode, Term]:
    return {quad.predicate: quad.object for quad in store.match_quads(node, None, None, REVIEW)}


def _violations(store: TripleStore, item: NamedNode) -> tuple[NamedNode, ...]:
    quads = store.match_quads(item, UKG.violation, None, REVIEW)
    return tuple(quad.object for quad in quads if isinstance(quad.object, NamedNode))


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
    a confidence is outside of any bounds of it. `group` identifies a cause (`curation.review.review_search`).
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
