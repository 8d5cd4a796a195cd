"""The embedded store: atomic commits of exactly the given quads, revisions, checkpoints, recovery."""

import subprocess
import sys
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from sparql.model.errors import StoreLocked
from sparql.model.vocabulary import STATE, Namespace
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")


def contents(store: EmbeddedStore) -> set[Quad]:
    return {quad for quad in store.match_quads(None, None, None) if quad.graph_name != STATE}


def test_a_commit_adds_and_removes_exactly_its_quads():
    store = EmbeddedStore()
    first, second = Quad(EX.a, EX.p, EX.b), Quad(EX.a, EX.p, Literal('q"\\\n', language="en"), EX.g)
    store.commit([first, second])
    store.commit([Quad(EX.c, EX.p, EX.d)], [first])
    assert contents(store) == {second, Quad(EX.c, EX.p, EX.d)}


def test_stored_blank_nodes_and_triple_terms_can_be_removed():
    store = EmbeddedStore()
    inner = Triple(BlankNode("b1"), EX.p, Literal("x"))
    quads = [Quad(BlankNode("b1"), EX.p, BlankNode("b2")), Quad(BlankNode("b3"), EX.q, inner, EX.g)]
    kept = Quad(BlankNode("b9"), EX.p, BlankNode("b2"))
    store.commit([*quads, kept])
    added = Quad(BlankNode("b2"), EX.q, EX.z)
    store.commit([added], quads)
    assert contents(store) == {kept, added}


def test_thousands_of_blank_nodes_are_removed_and_added_in_one_commit():
    store = EmbeddedStore()
    chain = [Quad(BlankNode(f"b{n}"), EX.p, BlankNode(f"b{n + 1}"), EX.g) for n in range(6000)]
    store.commit(chain, graphs_created=[EX.g])
    assert contents(store) == set(chain)
    other = [Quad(BlankNode(f"c{n}"), EX.p, Literal(n)) for n in range(6000)]
    store.commit(other, chain)
    assert contents(store) == set(other)


def test_a_quad_both_added_and_removed_stays():
    store = EmbeddedStore()
    quad = Quad(EX.a, EX.p, EX.b)
    store.commit([quad], [quad])
    assert contents(store) == {quad}


def test_revisions_grow_and_survive_a_restart(tmp_path: Path):
    store = EmbeddedStore(tmp_path)
    assert [store.commit([Quad(EX.a, EX.p, Literal(str(n)))]) for n in range(3)] == [1, 2, 3]
    store.close()
    assert EmbeddedStore(tmp_path).revision() == 3


def test_a_checkpoint_shows_every_write_before_it_and_none_after(tmp_path: Path):
    store = EmbeddedStore(tmp_path)
    store.commit([Quad(EX.a, EX.p, EX.b)])
    checkpoint = store.acquire()
    store.commit([Quad(EX.c, EX.p, EX.d)])
    frozen = pyoxigraph.Store.read_only(str(checkpoint.path))
    assert Quad(EX.a, EX.p, EX.b) in frozen
    assert Quad(EX.c, EX.p, EX.d) not in frozen
    assert checkpoint.revision == 1


def test_a_checkpoint_is_shared_while_nothing_changes_and_removed_when_unused(tmp_path: Path):
    store = EmbeddedStore(tmp_path)
    store.commit([Quad(EX.a, EX.p, EX.b)])
    first, second = store.acquire(), store.acquire()
    assert first == second
    store.commit([Quad(EX.c, EX.p, EX.d)])
    third = store.acquire()
    store.release(first)
    assert first.path.exists()
    store.release(second)
    assert not first.path.exists()
    assert third.path.exists()


def test_a_folder_in_use_is_reported_as_such(tmp_path: Path):
    store = EmbeddedStore(tmp_path)
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "StoreLocked" in done.stderr
    assert store.revision() == 0
    with pytest.raises(StoreLocked):
        EmbeddedStore(tmp_path)


WRITER = """
import sys
from pathlib import Path
from pyoxigraph import Literal, NamedNode, Quad
from sparql.storage.embedded_store import EmbeddedStore
store = EmbeddedStore(Path(sys.argv[1]))
p = NamedNode("http://example.org/p")
previous = []
for n in range(store.revision(), 1_000_000):
    quads = [Quad(NamedNode(f"http://example.org/{n}"), p, Literal(str(i))) for i in range(20)]
    store.commit(quads, previous)
    previous = quads
    print(n + 1, flush=True)
"""


def test_killing_the_writer_loses_nothing_acknowledged_and_tears_nothing(tmp_path: Path):
    for _ in range(3):
        command = [sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            acknowledged = max(int(process.stdout.readline()) for _ in range(50))
            process.kill()
            acknowledged = max([acknowledged, *(int(line) for line in process.stdout if line.strip())])
        store = EmbeddedStore(tmp_path)
        assert store.revision() >= acknowledged
        subjects = [q.subject for q in contents(store)]
        newest = NamedNode(f"http://example.org/{store.revision() - 1}")
        assert subjects.count(newest) == 20
        store.close()
        del store


def tables_with(folder: Path, text: str) -> list[Path]:
    return [path for path in folder.glob("graph/*.sst") if text.encode() in path.read_bytes()]


def test_what_is_written_out_is_in_the_files_of_the_database(tmp_path: Path):
    store = EmbeddedStore(tmp_path)
    store.commit([Quad(EX.a, EX.p, Literal("that was in a buffer"))])
    assert not tables_with(tmp_path, "that was in a buffer")
    store.write_out()
    assert tables_with(tmp_path, "that was in a buffer")
    EmbeddedStore().write_out()
