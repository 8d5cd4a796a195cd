"""The log of changes: complete, without gaps, bounded, and in step with the store after any end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

from sparql.model.change import Change, Origin, Statement
from sparql.model.errors import ChangesForgotten, MalformedRequest, StoreUnwritable
from sparql.model.vocabulary import PROVENANCE, Namespace
from sparql.storage.change_log import ChangeLog, Commit
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer

EX = Namespace("http://example.org/")


def opened(folder: Path, *, kept: bool = False, **options: int) -> tuple[EmbeddedStore, ChangeLog]:
    store = EmbeddedStore(folder / "store" if kept else None)
    log = store.journal = ChangeLog(folder / "changes", store.revision(), **options)
    return store, log


def entries(log: ChangeLog, after: int | None = None) -> list[dict[str, object]]:
    reader = log.reader(log.oldest - 1 if after is None else after)
    lines = []
    while found := reader.next_lines():
        lines += found
    return [json.loads(line) for line in lines]


def quad(number: int, graph: NamedNode | None = None) -> Quad:
    named = [graph] if graph else []
    return Quad(EX.term(f"s{number}"), EX.p, Literal(number), *named)


def test_an_entry_lists_additions_and_removals(tmp_path: Path):
    store, log = opened(tmp_path)
    store.commit([quad(1), quad(2)], origin="asserted")
    store.commit([quad(3), Quad(BlankNode("b"), EX.p, Literal('a "b"\n\\', language="en"), EX.g)], [quad(1)])
    first, second = entries(log)
    assert (first["revision"], first["origin"], first["added"], first["removed"]) == (1, "asserted", 2, 0)
    assert (second["revision"], second["added"], second["removed"]) == (2, 2, 1)
    assert set(parse(second["additions"], format=RdfFormat.N_QUADS)) == {
        quad(3),
        Quad(BlankNode("b"), EX.p, Literal('a "b"\n\\', language="en"), EX.g),
    }
    assert set(parse(second["removals"], format=RdfFormat.N_QUADS)) == {quad(1)}
    assert first["time"] <= second["time"]


def test_only_real_changes_are_listed(tmp_path: Path):
    store, log = opened(tmp_path)
    store.commit([quad(1)])
    store.commit([quad(1), quad(2)], [quad(7)])
    assert [(one["added"], one["removed"]) for one in entries(log)] == [(1, 0), (1, 0)]


def test_system_graphs_are_counted_and_not_listed(tmp_path: Path):
    store, log = opened(tmp_path)
    store.commit([quad(1), quad(1, PROVENANCE)])
    (entry,) = entries(log)
    assert (entry["added"], entry["system"]) == (1, 1)
    assert "provenance" not in str(entry["additions"])


def test_created_and_dropped_empty_graphs_are_listed(tmp_path: Path):
    store, log = opened(tmp_path)
    store.commit([], graphs_created=[EX.g])
    store.commit([], graphs_dropped=[EX.g])
    created, dropped = entries(log)
    assert created["graphs_created"] == dropped["graphs_dropped"] == [EX.g.value]


def test_the_writer_records_the_origin_of_a_change(tmp_path: Path):
    store, log = opened(tmp_path)
    writer = Writer(store)
    statement = Statement(quad(1).triple)
    writer.commit(Change(additions=(statement,), origin=Origin.EXTRACTED))
    writer.commit(Change(removals=frozenset((quad(1).triple,))))
    writer.write_system([quad(9, PROVENANCE)])
    writer.replace_ontology([quad(5).triple])
    assert [one["origin"] for one in entries(log)] == ["extracted", "asserted", "system", "ontology"]


def test_a_commit_larger_than_an_entry_is_counted_and_marked_as_incomplete(tmp_path: Path):
    store, log = opened(tmp_path, entry_bytes=500)
    store.commit([quad(n) for n in range(100)])
    store.commit([quad(1000)])
    large, small = entries(log)
    assert (large["added"], large["complete"], large["additions"]) == (100, False, None)
    assert small["complete"]


def test_a_bulk_load_is_marked_as_incomplete(tmp_path: Path):
    store, log = opened(tmp_path)
    store.begin_bulk()
    store.bulk_add([quad(1)])
    store.end_bulk()
    assert [one["complete"] for one in entries(log)] == [False, False]


def test_reading_continues_where_it_stopped(tmp_path: Path):
    store, log = opened(tmp_path)
    for number in range(20):
        store.commit([quad(number)])
    reader = log.reader(3)
    found = []
    while lines := reader.next_lines(limit_bytes=1):
        assert len(lines) == 1
        found += [json.loads(line)["revision"] for line in lines]
    assert found == list(range(4, 21))
    assert reader.next_lines() == []
    store.commit([quad(99)])
    assert [json.loads(line)["revision"] for line in reader.next_lines()] == [21]


def test_the_oldest_entries_are_dropped_when_the_log_is_full(tmp_path: Path):
    store, log = opened(tmp_path, total_bytes=16_000)
    reader = log.reader(0)
    for number in range(200):
        store.commit([quad(number)])
    size = sum(path.stat().st_size for path in (tmp_path / "changes").iterdir())
    assert size <= 20_000
    kept = [one["revision"] for one in entries(log)]
    assert kept == list(range(log.oldest, 201))
    assert log.oldest > 1
    with pytest.raises(ChangesForgotten, match="no longer kept"):
        reader.next_lines()
    with pytest.raises(ChangesForgotten):
        log.reader(log.oldest - 2)


def test_a_future_revision_cannot_be_requested(tmp_path: Path):
    store, log = opened(tmp_path)
    store.commit([quad(1)])
    with pytest.raises(MalformedRequest, match="newest is 1"):
        log.reader(2)


def test_listeners_are_called_for_each_commit_until_they_unsubscribe(tmp_path: Path):
    store, log = opened(tmp_path)
    heard: list[int] = []
    stop = log.listen(lambda: heard.append(log.newest))
    store.commit([quad(1)])
    store.commit([quad(2)])
    stop()
    store.commit([quad(3)])
    assert heard == [1, 2]


def test_a_commit_that_fails_leaves_no_entry(tmp_path: Path):
    store, log = opened(tmp_path)
    store.commit([quad(1)])
    with pytest.raises(AttributeError):
        store.commit([quad(2), "no quad"])  # type: ignore[list-item]
    store.commit([quad(3)])
    assert [one["revision"] for one in entries(log)] == [1, 2]
    assert "s3" in str(entries(log)[1]["additions"])


def test_nothing_is_committed_when_the_log_cannot_be_written(tmp_path: Path):
    store, _ = opened(tmp_path)
    store.commit([quad(1)])
    (file,) = (tmp_path / "changes").iterdir()
    file.unlink()
    with pytest.raises(StoreUnwritable):
        store.commit([quad(2)])
    assert store.revision() == 1
    assert not store.contains(quad(2))


class TestAtTheNextStart:
    """What a killed process may leave behind."""

    def commits(self, folder: Path, count: int = 3) -> None:
        store, _ = opened(folder, kept=True)
        for number in range(count):
            store.commit([quad(number)])
        store.close()

    def test_the_log_goes_on(self, tmp_path: Path):
        self.commits(tmp_path)
        store, log = opened(tmp_path, kept=True)
        store.commit([quad(10)])
        assert [one["revision"] for one in entries(log)] == [1, 2, 3, 4]

    def test_an_entry_whose_commit_was_never_done_is_cut_off(self, tmp_path: Path):
        self.commits(tmp_path)
        (file,) = (tmp_path / "changes").iterdir()
        with file.open("ab") as log_file:
            log_file.write(b'{"revision":4,"added":1}\n')
        store, log = opened(tmp_path, kept=True)
        assert log.newest == 3
        store.commit([quad(10)])
        assert "s10" in str(entries(log, 3)[0]["additions"])

    def test_a_torn_line_is_cut_off(self, tmp_path: Path):
        self.commits(tmp_path)
        (file,) = (tmp_path / "changes").iterdir()
        with file.open("ab") as log_file:
            log_file.write(b'{"revision":4,"ad')
        _, log = opened(tmp_path, kept=True)
        assert [one["revision"] for one in entries(log)] == [1, 2, 3]

    @pytest.mark.parametrize("lost", ["the last entry", "the first entry", "all"])
    def test_a_log_with_a_gap_starts_anew(self, tmp_path: Path, lost: str):
        self.commits(tmp_path)
        (file,) = (tmp_path / "changes").iterdir()
        lines = file.read_bytes().splitlines(keepends=True)
        if lost == "the last entry":
            file.write_bytes(b"".join(lines[:-1]))
        elif lost == "all":
            file.unlink()
        else:
            file.write_bytes(b"".join(lines[1:]))
        store, log = opened(tmp_path, kept=True)
        store.commit([quad(10)])
        # Without the first entry what is left is still without gaps.
        expected = [2, 3, 4] if lost == "the first entry" else [4]
        assert [one["revision"] for one in entries(log)] == expected
        with pytest.raises(ChangesForgotten):
            log.reader(0)

    @pytest.mark.parametrize("lost", ["nothing", "a line of an older file", "the end of an older file"])
    def test_older_files_are_kept_where_no_revision_is_missing(self, tmp_path: Path, lost: str):
        log = ChangeLog(tmp_path, 0, total_bytes=16_000)
        for revision in range(1, 81):
            with log.writing(Commit(revision, "asserted", [quad(revision)], ())):
                pass
        older, *_ = sorted(tmp_path.iterdir())
        lines = older.read_bytes().splitlines(keepends=True)
        assert len(lines) > 2
        if lost == "a line of an older file":
            older.write_bytes(b"".join(lines[:1] + lines[2:]))
        elif lost == "the end of an older file":
            older.write_bytes(b"".join(lines)[:-5])
        again = ChangeLog(tmp_path, 80, total_bytes=16_000)
        assert again.newest == 80
        assert again.oldest == (log.oldest if lost == "nothing" else 81)


_WRITER = """
import sys
from pathlib import Path
from pyoxigraph import Literal, NamedNode, Quad
from sparql.storage.change_log import ChangeLog, Commit
from sparql.storage.embedded_store import EmbeddedStore
folder = Path(sys.argv[1])
store = EmbeddedStore(folder / "store")
store.journal = ChangeLog(folder / "changes", store.revision(), total_bytes=10**9)
while True:
    revision = store.revision() + 1
    store.commit([Quad(NamedNode("http://e/s"), NamedNode("http://e/p"), Literal(revision))])
    print(revision, flush=True)
"""


def test_kill_9_costs_no_acknowledged_revision(tmp_path: Path):
    acknowledged = 0
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(20)]
        os.kill(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        lines += output.splitlines()
        acknowledged = max([acknowledged, *(int(line) for line in lines if line.isdigit())])
    store, log = opened(tmp_path, kept=True)
    found = entries(log)
    assert [one["revision"] for one in found] == list(range(1, store.revision() + 1))
    assert store.revision() >= acknowledged > 10
    for one in found:
        (listed,) = parse(one["additions"], format=RdfFormat.N_QUADS)
        assert listed.object == Literal(one["revision"])
        assert store.contains(listed)
