"""The engine's write buffer is bounded, in the server and in the capturer."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad

from sparql.storage.database import WriteBuffer
from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers import checkpoints
from tests.support.capturing import Capturing

_WRITES = """
import sys
from pathlib import Path
from pyoxigraph import Literal, NamedNode, Quad
from sparql.storage.embedded_store import EmbeddedStore

def private_mb():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) / 1024

store, graph, seen = EmbeddedStore(Path(sys.argv[1])), NamedNode("http://e/g"), []
for turn in range(1500):
    quads = [
        Quad(NamedNode(f"http://e/{turn}"), NamedNode(f"http://e/p{n}"), Literal(f"{turn} {n}"), graph)
        for n in range(30)
    ]
    store.commit(quads)
    store.commit((), quads)
    seen.append(private_mb())
print(max(seen) - seen[0])
"""


def table_files(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.sst")}


def quads(count: int, *, about: str = "s", length: int = 10) -> list[Quad]:
    text = "".join(random.Random(about).choices("abcdefgh", k=length))
    return [
        Quad(
            NamedNode(f"http://e/{about}"),
            NamedNode(f"http://e/p{n}"),
            Literal(text + str(n)),
            DefaultGraph(),
        )
        for n in range(count)
    ]


def test_writes_are_written_out_when_they_take_too_much_and_counted_anew_then() -> None:
    written: list[bool] = []
    buffer = WriteBuffer(lambda: written.append(True), 100_000)
    for _ in range(100):
        buffer.wrote(100)
    assert len(written) == pytest.approx(100 * 100 * 500 / 100_000, rel=0.5)
    buffer.emptied()
    del written[:]
    buffer.wrote(1, 99_000)
    assert not written
    buffer.wrote(1, 1000)
    assert written == [True]


def test_a_store_that_is_only_written_to_keeps_its_memory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WRITES, str(tmp_path / "data")]
    grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # 90,000 quads that came and went: 45 MB where nothing is written out.
    assert float(grown) < 30


def test_a_store_without_checkpoints_writes_long_texts_out(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    before = table_files(tmp_path / "graph")
    for number in range(20):
        store.commit(quads(1, about=f"long-{number}", length=2**20))
    assert table_files(tmp_path / "graph") != before
    store.close()


def test_the_copy_of_the_capturer_is_replaced_before_long_texts_fill_its_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is not replaced because of its size on the disk.
    monkeypatch.setattr(checkpoints, "LEAST_GROWTH", 2**30)
    store = EmbeddedStore(tmp_path)
    capturer = Capturing(store)
    update = "DELETE { ?s ?p 'x' } INSERT { ?s ?p 'y' } WHERE { ?s ?p 'z' }"
    capturer.capture(update)
    (first,) = capturer.copies()
    for number in range(10):
        store.commit(quads(40, about=f"s{number}", length=25_000))
        capturer.capture(update)
    (last,) = capturer.copies()
    assert last != first
    capturer.close()
    store.close()


def test_temporary_writes_of_updates_are_flushed(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    capturer = Capturing(store)
    data = " ".join(f"<http://e/s> <http://e/p> {n} ." for n in range(3000))
    update = f"INSERT DATA {{ {data} }} ; DELETE WHERE {{ ?s ?p ?o }}"
    capturer.capture(update)
    (copy,) = capturer.copies()
    before = table_files(copy)
    for _ in range(3):
        assert not capturer.capture(update).additions
    assert table_files(copy) != before
    capturer.close()
    store.close()
