"""Changes that are committed together: each is judged after those before it, and fails alone."""

import json
from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from sparql.model.change import Change, Rejection, Selection, Statement, Verdict, Violation
from sparql.model.errors import ProtectedGraph, StoreUnwritable
from sparql.model.vocabulary import DEFAULT, DERIVED, EXTRACTED, GEO, STATE, UKG, XSD, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.storage.change_log import ChangeLog
from sparql.storage.durability import Durability
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.group import Group, Outcome
from sparql.writing.writer import Writer

EX = Namespace("http://example.org/")


def triple(number: int) -> Triple:
    return Triple(EX.s, EX.p, Literal(number))


def quad(number: int, graph=DEFAULT) -> Quad:
    return Quad(*triple(number), graph)


def adds(*numbers: int) -> Change:
    return Change(additions=tuple(Statement(triple(number)) for number in numbers))


def takes(*numbers: int) -> Change:
    return Change(removals=frozenset(triple(number) for number in numbers))


def together(writer: Writer, *changes: Change) -> list[Outcome]:
    outcomes: list[Outcome] = []
    writer.commit_group([lambda built=change: built for change in changes], outcomes)
    return outcomes


def revisions(outcomes: list[Outcome]) -> list[int | None]:
    return [outcome.revision for outcome in outcomes if isinstance(outcome, Verdict)]


class AtMostThree:
    """A gate that refuses what makes the subject have more than three values."""

    def select(self, before, additions, removals, derive, **how) -> Selection:
        if len({*before.match(EX.s, EX.p, None), *(one.triple for one in additions)} - removals) <= 3:
            return Selection(additions)
        violation = Violation(EX.s, "too many", UKG.TooMany)
        return Selection((), tuple(Rejection(one, (violation,)) for one in additions))

    def concerns(self, additions) -> bool:
        return any(one.subject == EX.s for one in additions)


@pytest.mark.parametrize("durability", Durability)
def test_each_has_its_revision_and_its_entry_and_all_are_one_step(tmp_path: Path, durability: Durability):
    store = EmbeddedStore(tmp_path / "data", durability=durability)
    log = store.journal = ChangeLog(tmp_path / "changes", 0)
    written: list[int] = []
    store.before_commit = lambda revision, additions, removals: written.append(revision)
    heard: list[int] = []
    log.listen(lambda: heard.append(len(written)))
    writer = Writer(store)
    outcomes = together(writer, adds(1, 2), takes(1), adds(2), adds(1), takes(7))
    assert revisions(outcomes) == [1, 2, None, 3, None]
    assert written == [3]
    assert heard == [1]
    writer.settle(3)
    lines = [json.loads(line) for line in log.reader(0).next_lines()]
    assert [(one["revision"], one["added"], one["removed"]) for one in lines] == [
        (1, 2, 0),
        (2, 0, 1),
        (3, 1, 0),
    ]
    store.close()
    again = EmbeddedStore(tmp_path / "data")
    assert again.revision() == 3
    assert {t.object for t in again.match(EX.s, EX.p, None)} == {Literal(1), Literal(2)}
    assert len(list(again.match_quads(UKG.store, UKG.revision, None, STATE))) == 1


def test_each_is_judged_on_the_graph_as_those_before_it_leave_it():
    store = EmbeddedStore()
    writer = Writer(store, gate=AtMostThree())
    outcomes = together(writer, adds(1, 2), adds(3, 4), adds(3), adds(4), takes(1), adds(4))
    refused = [isinstance(one, Verdict) and bool(one.rejected) for one in outcomes]
    assert refused == [False, True, False, True, False, False]
    assert {t.object.value for t in store.match(EX.s, EX.p, None)} == {"2", "3", "4"}


def test_a_failed_change_does_not_affect_the_others():
    store = EmbeddedStore()
    forbidden = Change(graph_additions=frozenset({quad(1, STATE)}))
    outcomes = together(Writer(store), adds(1), forbidden, adds(2))
    assert isinstance(outcomes[1], ProtectedGraph)
    assert revisions(outcomes) == [1, 2]
    assert len(list(store.match(EX.s, None, None))) == 2


def test_when_the_disk_is_full_none_of_them_is_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = EmbeddedStore(tmp_path / "data")
    log = store.journal = ChangeLog(tmp_path / "changes", 0)
    writer = Writer(store)
    together(writer, adds(1))

    def full(*_: object) -> None:
        raise StoreUnwritable(tmp_path, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(store, "_apply", full)
        outcomes = together(writer, adds(2), adds(2), takes(1))
    assert all(isinstance(one, StoreUnwritable) for one in outcomes)
    assert revisions(together(writer, adds(3))) == [2]
    assert {t.object.value for t in store.match(EX.s, EX.p, None)} == {"1", "3"}
    assert [json.loads(line)["revision"] for line in log.reader(0).next_lines()] == [1, 2]


def test_graphs_of_clients_are_changed_too_and_come_and_go():
    store = EmbeddedStore()
    outcomes = together(
        Writer(store),
        Change(graph_additions=frozenset({quad(1, EX.g), quad(2, EX.g)})),
        Change(graph_removals=frozenset({quad(1, EX.g)}), graph_additions=frozenset({quad(1, EX.h)})),
        Change(graph_removals=frozenset({quad(2, EX.g)}), graphs_dropped=frozenset({EX.g})),
        Change(graphs_created=frozenset({EX.new})),
    )
    assert revisions(outcomes) == [1, 2, 3, 4]
    assert list(store.match_quads(EX.s, None, None)) == [quad(1, EX.h)]
    assert not store.has_graph(EX.g)
    assert store.has_graph(EX.new)


def test_relations_follow_geometries_that_come_between():
    store = EmbeddedStore()
    writer = Writer(store, deriver=SpatialRelations())
    writer.start()

    def place(name: str) -> Change:
        wkt = Literal("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", datatype=GEO.wktLiteral)
        rows = [
            (EX.term(name), GEO.hasGeometry, EX.term(f"{name}-g")),
            (EX.term(f"{name}-g"), GEO.asWKT, wkt),
        ]
        return Change(additions=tuple(Statement(Triple(*row)) for row in rows))

    outcomes = together(writer, adds(1), place("a"), adds(2), place("b"), adds(3))
    assert revisions(outcomes) == [1, 2, 3, 4, 5]
    assert len(list(store.named(DERIVED).match(None, None, None))) == 2


def test_a_group_shows_pending_commits():
    store = EmbeddedStore()
    store.commit([quad(1), quad(2)])
    group = Group(store, [])
    group.commit([quad(3), quad(4, EX.g)], [quad(1)])
    group.commit([quad(1)], [quad(3)])
    group.commit([], [quad(2)])
    assert [t.object.value for t in group.match(EX.s, None, None)] == ["1"]
    assert [t.object.value for t in group.match(None, EX.p, None)] == ["1"]
    assert [t.object.value for t in group.named(EX.g).match(None, None, Literal(4))] == ["4"]
    assert group.contains(quad(1))
    assert not group.contains(quad(2))
    assert {t.object.value for t in store.match(EX.s, None, None)} == {"1", "2"}
    group.flush()
    assert set(store.match_quads(EX.s, None, None)) == {quad(1), quad(4, EX.g)}


def test_a_clone_that_follows_holds_what_was_committed_together():
    clone = pyoxigraph.Store()

    class Following:
        def committed(self, commit, since):
            assert since == store.revision()
            for one in commit.removals:
                clone.remove(one)
            clone.extend(commit.additions)

        def lost_track(self):
            raise AssertionError

    store = EmbeddedStore()
    store.follow(Following())
    writer = Writer(store)
    together(writer, adds(1, 2), takes(1), adds(3))
    together(writer, takes(2), adds(1), takes(1))
    assert set(clone) == set(store.graph)
    assert NamedNode(UKG.store.value) in {one.subject for one in clone}


@pytest.mark.parametrize("refusing", [False, True])
def test_the_fast_path_for_assertions_has_the_same_result_as_the_complete_one(
    monkeypatch: pytest.MonkeyPatch, refusing: bool
) -> None:
    found = []
    for short in (True, False):
        store = EmbeddedStore()
        extracted = Triple(EX.s, EX.p, Literal(9))
        store.commit([Quad(*extracted, DEFAULT), Quad(*extracted, EXTRACTED)])
        writer = Writer(store, gate=AtMostThree() if refusing else None)
        if not short:
            monkeypatch.setattr(Change, "only_states", False)
        changes = [adds(1), adds(1), adds(9), adds(2, 9), replace(adds(3, 4), partial=True), adds(5)]
        outcomes = together(writer, *changes)
        found.append((outcomes, set(store.graph)))
    assert found[0] == found[1]


def test_changes_without_judging_have_the_same_result_on_the_fast_path():
    changes = [
        adds_of(EX.a, 1),
        adds_of(EX.a, 1, 2),
        adds_of(EX.a, 2, 2),
        takes_of(EX.a, 1),
        adds_of(EX.a, 1),
        adds(1, 2),
        adds_of(EX.b, 3),
        replace(adds_of(EX.c, 4), record=lambda verdict: [quad(9, STATE)]),
        Change(additions=(Statement(Triple(EX.a, EX.p, Literal("x", datatype=XSD.integer))),)),
    ]
    long_way, short_way = Writer(EmbeddedStore()), Writer(EmbeddedStore(), gate=AtMostThree())
    one_by_one = [long_way.commit(change) for change in changes]
    outcomes = together(short_way, *changes)
    assert [reported(one) for one in outcomes] == [reported(one) for one in one_by_one]
    assert {*short_way._store.graph} == {*long_way._store.graph}


def adds_of(subject: NamedNode, *numbers: int) -> Change:
    return Change(additions=tuple(Statement(Triple(subject, EX.p, Literal(number))) for number in numbers))


def takes_of(subject: NamedNode, *numbers: int) -> Change:
    return Change(removals=frozenset(Triple(subject, EX.p, Literal(number)) for number in numbers))


def reported(outcome: Outcome) -> tuple[object, ...]:
    assert isinstance(outcome, Verdict)
    return outcome.accepted, [one.statement for one in outcome.rejected], outcome.revision
