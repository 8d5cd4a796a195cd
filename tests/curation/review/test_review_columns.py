"""The queue's columns in memory: they say what the store says after every commit, and hold what is open."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from curation.deciding.decisions import Decisions
from curation.review import review_search
from curation.review.review_item import ReviewItem, RunOrigin, State, item_iri, item_quads, violation_quads
from curation.review.review_queue import ReviewQueue
from curation.review.review_search import ReviewColumns, ReviewFilter, ReviewSearch
from ontology import Schema
from sparql.model.change import Rejection, Statement, Violation
from sparql.model.vocabulary import DCTERMS, REVIEW, SH, UKG
from sparql.provenance.records import Support
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.gate_city import ADA, City, ex, said
from tests.support.retained import retained

_EDITED = (UKG.violation, UKG.assignee)
ITEM = UKG.term("one")


def quad(predicate: NamedNode, value: NamedNode | Literal, item: NamedNode = ITEM) -> Quad:
    return Quad(item, predicate, value, REVIEW)


def violation(number: int) -> Violation:
    return Violation(
        ex("hall"),
        f"message {number % 5}",
        SH.term("MinCountConstraintComponent" if number % 2 else "MaxCountConstraintComponent"),
        shape=ex(f"Shape{number % 3}") if number % 4 else None,
        severity=SH.Warning if number % 3 else SH.Violation,
    )


def open_item(number: int, *violations: Violation) -> list[Quad]:
    """A new item of the queue; the store holds no more of it than of an extracted one."""
    rejection = Rejection(Statement(said(f"hall{number}", f"p{number % 4}", str(number))), violations)
    return [
        *item_quads(
            rejection,
            RunOrigin(ex("run"), ex(f"document{number % 3}")),
            Support(confidence=number % 10 / 10),
            names={ex(f"hall{number}"): f"Hall {number}"},
            created=moment(number),
        )
    ]


def moment(number: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)


def named(number: int) -> NamedNode:
    triple = said(f"hall{number}", f"p{number % 4}", str(number))
    return item_iri(triple, RunOrigin(ex("run"), ex(f"document{number % 3}")))


def settle(
    store: EmbeddedStore, items: Sequence[NamedNode], state: State, before: State = State.OPEN
) -> None:
    store.commit(
        [quad(UKG.status, state.node, item) for item in items],
        [quad(UKG.status, State.OPEN.node, item) for item in items],
    )


def held(search: ReviewSearch) -> int:
    return retained(search, "curation")


def test_what_is_held_does_not_grow_with_the_items_that_were_settled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(review_search, "_MOST_CHANGED", 300)
    store = EmbeddedStore()
    search = ReviewSearch(store)
    store.commit([one for n in range(20) for one in open_item(n, violation(n), violation(n + 1))])
    everything = ReviewFilter(state=None)
    sizes = []
    for begin in range(20, 1020, 100):
        numbers = range(begin, begin + 100)
        store.commit([one for n in numbers for one in open_item(n, violation(n), violation(n + 1))])
        assert len(search.find(ReviewFilter(text="message"))) == 120
        settle(store, [named(n) for n in numbers], State.REJECTED)
        for wanted in (ReviewFilter(), ReviewFilter(text="Hall", min_confidence=0.1), everything):
            found = search.find(wanted)
            search.facets(found)
            search.causes(found)
        sizes.append(held(search))
    assert len(search.find(everything)) == 1020
    assert len(search.find(ReviewFilter(state=State.REJECTED))) == 1000
    assert 20 < sizes[0] == sizes[-1]


def test_what_nobody_searches_for_is_not_kept_either() -> None:
    store = EmbeddedStore()
    search = ReviewSearch(store)
    search.facets(search.find(ReviewFilter()))
    empty = held(search)
    for begin in range(0, 5000, 500):
        numbers = range(begin, begin + 500)
        store.commit([one for n in numbers for one in open_item(n, violation(n))])
        settle(store, [named(n) for n in numbers], State.ACCEPTED)
    assert held(search) <= empty + review_search._MOST_CHANGED
    assert search.find(ReviewFilter()) == []


class Model:
    """A queue in which items come, change, are settled, reopened and deleted, at random."""

    def __init__(self, seed: int) -> None:
        self.store = EmbeddedStore()
        self.chance = random.Random(seed)
        self.number = 0
        self.states: dict[int, State] = {}

    def change(self) -> None:
        """Commit a change of up to ten items."""
        chosen = self.chance.sample(sorted(self.states), min(len(self.states), self.chance.randint(1, 10)))
        change = self.chance.choice(
            (self._add, self._add, self._settle, self._settle, self._delete, self._edit)
        )
        self.store.commit(*change(chosen))

    def _add(self, _: Sequence[int]) -> tuple[list[Quad], list[Quad]]:
        new = range(self.number, self.number + self.chance.randint(1, 10))
        self.number = new.stop
        self.states |= dict.fromkeys(new, State.OPEN)
        return [one for n in new for one in open_item(n, *map(violation, range(n, n + n % 4)))], []

    def _settle(self, chosen: Sequence[int]) -> tuple[list[Quad], list[Quad]]:
        """Or open again."""
        old = [quad(UKG.status, self.states[n].node, named(n)) for n in chosen]
        self.states |= {n: self.chance.choice(list(State)) for n in chosen}
        return [quad(UKG.status, self.states[n].node, named(n)) for n in chosen], old

    def _delete(self, chosen: Sequence[int]) -> tuple[list[Quad], list[Quad]]:
        for number in chosen[:1]:
            del self.states[number]
        return [], [one for number in chosen[:1] for one in self._quads(named(number))]

    def _edit(self, chosen: Sequence[int]) -> tuple[list[Quad], list[Quad]]:
        """Other violations, and another person."""
        added, removed = [], []
        for number in chosen:
            item = named(number)
            quads = self._quads(item)
            removed += [one for one in quads if one.subject != item or one.predicate in _EDITED]
            reasons = tuple(map(violation, range(self.chance.randint(0, 3))))
            added += [quad(UKG.assignee, Literal("Ada"), item), *violation_quads(item, reasons)]
        return added, removed

    def _quads(self, item: NamedNode) -> list[Quad]:
        violations = [q.object for q in self.store.match_quads(item, UKG.violation, None, REVIEW)]
        return [q for node in (item, *violations) for q in self.store.match_quads(node, None, None, REVIEW)]


FILTERS = [
    *(ReviewFilter(state=state) for state in (None, *State)),
    *(ReviewFilter(state=state, predicate=ex("p1")) for state in (None, *State)),
    *(ReviewFilter(state=state, shape=ex("Shape1")) for state in (None, *State)),
    *(ReviewFilter(state=state, severity=SH.Warning) for state in (None, *State)),
    *(ReviewFilter(state=state, text="message 2") for state in (None, *State)),
    *(ReviewFilter(state=state, text="hall 1") for state in (None, *State)),
    *(ReviewFilter(state=state, min_confidence=0.3, max_confidence=0.6) for state in (None, *State)),
    *(ReviewFilter(state=state, document=ex("document1"), assignee="") for state in (None, *State)),
    *(ReviewFilter(state=state, entity=ex("hall3")) for state in (None, *State)),
    ReviewFilter(state=State.ACCEPTED, assignee="Ada", component=SH.MaxCountConstraintComponent),
]


def matches(item: ReviewItem, wanted: ReviewFilter) -> bool:
    """Whether an item, read on its own, is one of a filter."""
    reasons = item.violations
    confidence = item.support.confidence
    words = [item.subject_name or "", str(item.triple), *(one.message for one in reasons)]
    checks = (
        wanted.state in (None, item.state),
        wanted.predicate in (None, item.triple.predicate),
        wanted.document in (None, item.document),
        wanted.entity in (None, item.triple.subject),
        wanted.shape is None or any(one.shape == wanted.shape for one in reasons),
        wanted.severity is None or any(one.severity == wanted.severity for one in reasons),
        wanted.component is None or any(one.component == wanted.component for one in reasons),
        wanted.assignee is None or wanted.assignee == (item.assignee or ""),
        wanted.text is None or any(wanted.text in one.casefold() for one in words),
        wanted.min_confidence is None or wanted.min_confidence <= (confidence or 0),
        wanted.max_confidence is None or (confidence or 0) <= wanted.max_confidence,
    )
    return all(checks)


@pytest.mark.parametrize("most_changed", [3, 2_000])
@pytest.mark.parametrize("few", [2, 5_000])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_search_finds_what_the_store_holds_whatever_happens(
    seed: int, few: int, most_changed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_search, "_MOST_CHANGED", most_changed)
    monkeypatch.setattr(review_search, "_FEW", few)
    model = Model(seed)
    queue = ReviewQueue(model.store)
    for _ in range(40):
        model.change()
        everything = list(queue.items(named(number) for number in model.states))
        anew = ReviewSearch(model.store)
        for wanted in model.chance.sample(FILTERS, 12):
            expected = [one for one in everything if matches(one, wanted)]
            found = queue.find(wanted)
            assert found == [one.iri for one in sorted(expected, key=lambda one: one.created, reverse=True)]
            facets = queue.search.facets(found)
            assert facets["status"] == Counter(one.state.node for one in expected)
            assert facets["shape"] == Counter(
                shape for one in expected for shape in {v.shape for v in one.violations} if shape is not None
            )
            assert {name: len(one.items) for name, one in queue.search.causes(found).items()} == {
                name: len(one.items) for name, one in anew.causes(found).items()
            }


def test_a_search_after_a_commit_sees_it(tmp_path: Path) -> None:
    city = City(tmp_path)
    assert city.waiting() == set()
    city.post("A text", [said("hall", "capacity", "100"), said("barn", "capacity", "200")])
    assert len(city.waiting()) == 2
    found = city.review.find(ReviewFilter(text="BARN"))
    assert [city.review.get(item).triple for item in found] == [said("barn", "capacity", "200")]
    assert city.review.find(ReviewFilter(text="of no kind")) == city.review.find(ReviewFilter())
    rules = Schema.empty()
    decisions = Decisions(
        city.store, city.writer, city.review, schema=lambda: rules, shapes_version=lambda: "1"
    )
    decisions.reject(found, ADA, reason="no hall")
    assert city.waiting() == {str(said("hall", "capacity", "100"))}
    assert city.review.find(ReviewFilter(state=State.REJECTED)) == found
    assert city.review.search.facets(found)["status"] == {State.REJECTED.node: 1}
    decisions.reopen(found, ADA)
    assert len(city.waiting()) == 2
    assert city.review.find(ReviewFilter(text="BARN")) == found
    decisions.reject(found, ADA, reason="still no hall")
    city.remove("A text")
    assert city.review.find(ReviewFilter(state=None)) == found


def test_a_value_that_is_replaced_is_the_new_one() -> None:
    store = EmbeddedStore()
    columns = ReviewColumns(store)
    store.commit([quad(UKG.status, State.OPEN.node)])
    assert columns.of([ITEM], UKG.status) == {ITEM: State.OPEN.node}
    store.commit([quad(UKG.status, State.REJECTED.node)], [quad(UKG.status, State.OPEN.node)])
    assert columns.of([ITEM], UKG.status) == {ITEM: State.REJECTED.node}
    store.commit([], [quad(UKG.status, State.REJECTED.node)])
    assert columns.of([ITEM], UKG.status) == {}


def test_a_commit_while_a_column_is_read_is_not_missed() -> None:
    class Interrupted(EmbeddedStore):
        """Something is committed after the reading of a property has begun."""

        def match_quads(self, *pattern: Any) -> Iterator[Quad]:
            found = list(super().match_quads(*pattern))
            self.commit([quad(UKG.status, State.OPEN.node, UKG.term(f"item{self.revision()}"))])
            return iter(found)

    store = Interrupted()
    columns = ReviewColumns(store)
    before = columns.open()
    assert UKG.item0 in columns.open() - before
    store.commit([quad(UKG.status, State.OPEN.node)])
    assert {UKG.item0, ITEM} <= columns.open()


def test_what_a_bulk_load_adds_is_read_again() -> None:
    store = EmbeddedStore()
    columns = ReviewColumns(store)
    store.commit([quad(UKG.status, State.OPEN.node)])
    assert columns.of([ITEM], DCTERMS.source) == {}
    store.begin_bulk()
    store.bulk_add([quad(DCTERMS.source, Literal("a file"))])
    store.end_bulk()
    assert columns.of([ITEM], DCTERMS.source) == {ITEM: Literal("a file")}


def test_prepare_reads_all_that_a_search_of_the_queue_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    store = EmbeddedStore()
    store.commit([one for n in range(30) for one in open_item(n, violation(n), violation(n + 1))])
    search, other = ReviewSearch(store), ReviewSearch(store)
    search.prepare()
    wanted = [
        ReviewFilter(),
        ReviewFilter(text="nowhere"),
        ReviewFilter(min_confidence=0.2, max_confidence=0.7),
        ReviewFilter(severity=SH.Warning, component=SH.term("MinCountConstraintComponent")),
        ReviewFilter(shape=ex("Shape1"), assignee="", predicate=ex("p1")),
        ReviewFilter(class_=ex("Hall")),
    ]
    expected = [other.find(one) for one in wanted]
    everything = other.find(ReviewFilter())
    facets, causes = other.facets(everything), other.causes(everything)

    def read(*pattern: Any) -> Iterator[Quad]:
        assert pattern[-1] != REVIEW, f"{pattern} is read by a search"
        return iter(())

    monkeypatch.setattr(store, "match_quads", read)
    assert [search.find(one) for one in wanted] == expected
    assert (search.facets(everything), search.causes(everything)) == (facets, causes)


def test_prepare_stops_when_the_server_closes() -> None:
    store = EmbeddedStore()
    store.commit(open_item(1, violation(1)))
    search = ReviewSearch(store)
    asked: list[bool] = []
    search.prepare(lambda: not asked.append(True))
    assert len(asked) == 1


def test_commits_that_change_many_items_say_so_once() -> None:
    store = EmbeddedStore()
    calls: list[int] = []
    search = ReviewSearch(store, lambda: calls.append(store.revision()))

    def change(numbers: range) -> None:
        store.commit([one for n in numbers for one in open_item(n, violation(n))])

    change(range(500))
    assert not calls, "nobody has searched"
    search.prepare()
    change(range(500, 600))
    assert not calls
    change(range(600, 800))
    change(range(800, 1000))
    assert len(calls) == 1
    search.prepare()
    change(range(1000, 1000 + review_search._MOST_CHANGED + 1))
    assert len(calls) == 2
