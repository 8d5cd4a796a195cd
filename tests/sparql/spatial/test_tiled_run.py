"""A run over tiles can be resumed, and agrees with the relations that follow each change."""

import random
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad, Triple
from shapely.geometry.base import BaseGeometry

from sparql.model.change import Change, Statement
from sparql.model.errors import TileLost
from sparql.model.geometry import Tolerances, are_exact, basis_quad
from sparql.model.vocabulary import DERIVED, GEO, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.spatial.tiled_run import TiledRun, commit_run, open_run
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer

EX = Namespace("http://example.org/")


class AtOnce(Executor):
    """Does each task when it is given; dies after so many."""

    def __init__(self, lives: int | None = None, death: Exception | None = None) -> None:
        self.done = 0
        self._lives = lives
        self._death = death or BrokenProcessPool("killed")

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self._lives is not None and self.done >= self._lives:
            future.set_exception(self._death)
        else:
            future.set_result(function(*arguments, **named))
            self.done += 1
        return future


def squares(count: int, seed: int = 1) -> list[tuple[str, BaseGeometry]]:
    rng = random.Random(seed)
    corners = [(rng.randint(0, 12), rng.randint(0, 12), rng.randint(1, 3)) for _ in range(count)]
    return [(f"<{EX.iri}{n}>", shapely.box(x, y, x + s, y + s)) for n, (x, y, s) in enumerate(corners)]


def related(run: TiledRun) -> set[tuple[str, str, str]]:
    return {(pair.left, pair.relation.value, pair.right) for pair in run.pairs()}


def test_a_cluster_that_cannot_read_a_task_is_reported_in_one_line(tmp_path: Path) -> None:
    unread = RuntimeError("Error during deserialization of the task graph. This frequently\noccurs if")
    run = TiledRun(tmp_path / "run", squares(60), features_per_tile=10)
    with pytest.raises(TileLost) as error:
        run.run(AtOnce(lives=1, death=unread), at_once=1)
    assert "RuntimeError: Error during deserialization of the task graph. Finished tiles" in str(error.value)
    assert run.finished == 1


def test_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    features = squares(60)
    whole = TiledRun(tmp_path / "whole", features, features_per_tile=10)
    whole.run(AtOnce(), at_once=3)
    begun = TiledRun(tmp_path / "run", features, features_per_tile=10)
    with pytest.raises(TileLost, match="run the command again"):
        begun.run(AtOnce(lives=2), at_once=1)
    again = TiledRun(tmp_path / "run", features, features_per_tile=10)
    assert again.resumed
    assert (again.finished, len(again)) == (2, 6)
    worker = AtOnce()
    again.run(worker, at_once=2)
    assert worker.done == 4
    assert related(again) == related(whole)
    again.remove()
    assert list((tmp_path / "run").iterdir()) == []


def test_a_partly_written_tile_is_computed_again(tmp_path: Path) -> None:
    begun = TiledRun(tmp_path, squares(30), features_per_tile=10)
    begun.run(AtOnce(), at_once=1)
    kept = sorted(begun.folder.glob("strip-*.npz"))
    kept[1].rename(kept[1].with_suffix(".partial"))
    again = TiledRun(tmp_path, squares(30), features_per_tile=10)
    assert again.finished == 2
    again.run(AtOnce(), at_once=1)
    assert related(again) == related(begun)


@pytest.mark.parametrize("change", ["a feature", "the tolerance", "the tiles"])
def test_finished_tiles_do_not_count_when_something_changed(tmp_path: Path, change: str) -> None:
    TiledRun(tmp_path, squares(30), features_per_tile=10).run(AtOnce(), at_once=1)
    again = TiledRun(
        tmp_path,
        squares(30, seed=2 if change == "a feature" else 1),
        tolerances=Tolerances(1.0 if change == "the tolerance" else 0.0),
        features_per_tile=12 if change == "the tiles" else 10,
    )
    assert (again.resumed, again.finished) == (False, 0)
    assert len(list(tmp_path.iterdir())) == 1


def test_progress_is_reported_for_every_tile(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    run = TiledRun(tmp_path, squares(30), features_per_tile=10)
    run.run(AtOnce(), at_once=2, on_tile=lambda done, total, pairs: heard.append((done, total)))
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]


@st.composite
def drawn_geometries(draw: st.DrawFn) -> list[list[str]]:
    """For each feature its geometries: none is empty of text, some features have two."""
    corner = st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0, 1, 2, 6]))
    features = draw(st.lists(st.lists(corner, min_size=1, max_size=2), max_size=9))
    return [[wkt(x, y, size) for x, y, size in geometries] for geometries in features]


def wkt(x: int, y: int, size: int) -> str:
    if size == 0:
        return f"POINT({x} {y})"
    return str(shapely.box(x, y, x + size, y + size).wkt)


def statements(features: list[list[str]]) -> Iterator[Triple]:
    for number, geometries in enumerate(features):
        for part, text in enumerate(geometries):
            node = EX.term(f"{number}-{part}")
            yield Triple(EX.term(str(number)), GEO.hasGeometry, node)
            yield Triple(node, GEO.asWKT, Literal(text, datatype=GEO.wktLiteral))


def quads(store: EmbeddedStore) -> set[Quad]:
    return {quad for quad in store.match_quads(None, None, None) if "system#" not in str(quad.predicate)}


@settings(max_examples=15, deadline=None)
@given(drawn_geometries(), drawn_geometries(), st.sampled_from([0.0, 1000.0]), st.integers(1, 4))
def test_relating_in_bulk_gives_the_relations_that_follow_each_change(
    tmp_path_factory: pytest.TempPathFactory,
    features: list[list[str]],
    before: list[list[str]],
    tolerance_m: float,
    tile: int,
) -> None:
    tolerances = Tolerances(tolerance_m)
    added = tuple(Statement(triple) for triple in statements(features))
    incremental = EmbeddedStore()
    Writer(incremental, deriver=SpatialRelations(tolerances)).commit(Change(additions=added))
    in_bulk = EmbeddedStore()
    # Relations of other geometries are there, and have to go; one is also stated by a client.
    other = tuple(Statement(triple) for triple in statements(before))
    Writer(in_bulk, deriver=SpatialRelations(tolerances)).commit(Change(additions=other))
    plain = Writer(in_bulk)
    stated = next(iter(in_bulk.match_quads(None, None, None, DERIVED)), None)
    plain.commit(Change(removals=frozenset(one.triple for one in other), additions=added))
    if stated is not None:
        for writer in (plain, Writer(incremental)):
            writer.commit(Change(additions=(Statement(stated.triple),)))
    run = open_run(in_bulk, tmp_path_factory.mktemp("run"), tolerances=tolerances, features_per_tile=tile)
    run.run(AtOnce(), at_once=2)
    done = commit_run(plain, in_bulk, run)
    derived = set(incremental.match_quads(None, None, None, DERIVED))
    assert set(in_bulk.match_quads(None, None, None, DERIVED)) == derived
    assert done.relations == len(derived)
    assert {q.triple for q in quads(in_bulk)} == {q.triple for q in quads(incremental)}
    assert commit_run(plain, in_bulk, run).added == 0


PORTION = 8


def related_store(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> tuple[EmbeddedStore, TiledRun, set[Triple]]:
    """A store without relations, a finished run over it of several portions, and the relations it finds."""
    monkeypatch.setattr("sparql.spatial.tiled_run._PORTION", PORTION)
    added = tuple(map(Statement, statements([[shape.wkt] for _, shape in squares(40)])))
    incremental, store = EmbeddedStore(), EmbeddedStore()
    Writer(incremental, deriver=SpatialRelations()).commit(Change(additions=added))
    Writer(store).commit(Change(additions=added))
    run = open_run(store, folder, features_per_tile=10)
    run.run(AtOnce(), at_once=1)
    wanted = derived(incremental)
    assert len(wanted) > 3 * PORTION
    return store, run, wanted


def derived(store: EmbeddedStore) -> set[Triple]:
    return {quad.triple for quad in store.match_quads(None, None, None, DERIVED)}


def watch_bulk(
    monkeypatch: pytest.MonkeyPatch, store: EmbeddedStore, fails_at: int | None = None
) -> list[int]:
    """How many quads each call of the bulk loader is given; the one with this number fails on its way."""
    given: list[int] = []
    add = store.bulk_add

    def bulk_add(quads: Iterable[Quad]) -> None:
        portion = list(quads)
        given.append(len(portion))

        def read() -> Iterator[Quad]:
            yield from portion[:3]
            if len(given) == fails_at:
                raise KeyboardInterrupt
            yield from portion[3:]

        add(read())

    monkeypatch.setattr(store, "bulk_add", bulk_add)
    return given


def test_relations_are_added_and_removed_in_portions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store, run, wanted = related_store(monkeypatch, tmp_path)
    given = watch_bulk(monkeypatch, store)
    done = commit_run(Writer(store), store, run)
    # Each is in the graph of derived relations and in the default graph.
    assert sum(given) == 2 * len(wanted)
    assert max(given) == 2 * PORTION
    assert (done.added, done.removed, done.relations) == (len(wanted), 0, len(wanted))
    assert derived(store) == wanted == {t for t in wanted if next(store.match(*t), None)}
    gone: list[int] = []
    store.before_commit = lambda revision, additions, removals: gone.append(len(list(removals)))
    written: list[bool] = []
    monkeypatch.setattr(store, "write_out", lambda: written.append(True))
    nothing = TiledRun(tmp_path / "nothing", [])
    done = commit_run(Writer(store), store, nothing)
    assert (done.added, done.removed, done.relations) == (0, len(wanted), 0)
    assert sum(gone) == 2 * len(wanted) + 1
    assert max(gone) == 2 * PORTION
    assert len(written) == -(-len(wanted) // PORTION)
    assert derived(store) == set()


@pytest.mark.parametrize("repaired", ["by the same again", "by the next opening"])
def test_partly_committed_relations_are_repaired(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repaired: str
) -> None:
    store, run, wanted = related_store(monkeypatch, tmp_path)
    with monkeypatch.context() as patched:
        watch_bulk(patched, store, fails_at=2)
        with pytest.raises(KeyboardInterrupt):
            commit_run(Writer(store), store, run)
    assert len(derived(store)) == PORTION
    with monkeypatch.context() as patched:
        watch_bulk(patched, store, fails_at=1)
        with pytest.raises(KeyboardInterrupt):
            commit_run(Writer(store), store, run)
    assert store.bulk_pending
    if repaired == "by the same again":
        commit_run(Writer(store), store, run)
    else:
        Writer(store, deriver=SpatialRelations()).start()
    assert derived(store) == wanted
    assert are_exact(store)
    assert not store.bulk_pending


def test_a_failure_before_the_first_relation_leaves_nothing_to_repair(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store, run, _ = related_store(monkeypatch, tmp_path)
    watch_bulk(monkeypatch, store, fails_at=1)
    with pytest.raises(KeyboardInterrupt):
        commit_run(Writer(store), store, run)
    assert derived(store) == set()
    assert not store.bulk_pending


def test_no_crash_leaves_new_relations_under_the_mark_of_the_old_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store, run, _ = related_store(monkeypatch, tmp_path)
    store.commit([basis_quad(Tolerances(1000.0))])
    end = store.end_bulk
    seen: list[bool] = []

    def end_bulk(removals: Collection[Quad] = ()) -> int:
        revision = end(removals)
        seen.append(are_exact(store))
        return revision

    monkeypatch.setattr(store, "end_bulk", end_bulk)
    commit_run(Writer(store), store, run)
    assert seen == [True]
