"""Dumps hold the default graph and clients' graphs, never system graphs unless one is named."""

import io
import subprocess
import sys
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat

from sparql.model.vocabulary import DEFAULT, DERIVED, Namespace
from sparql.protocol.formats import BY_NAME, GRAPH_FORMATS, Format
from sparql.storage.dump import write_dump
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")
PLAIN = Quad(EX.a, EX.p, Literal("Ä\n", language="de"))
NAMED = Quad(EX.c, EX.p, EX.d, EX.graph)
SYSTEM = Quad(EX.x, EX.p, EX.y, DERIVED)


@pytest.fixture
def store(tmp_path: Path) -> EmbeddedStore:
    store = EmbeddedStore(tmp_path / "data")
    store.commit([PLAIN, NAMED, SYSTEM])
    return store


def dumped(store: EmbeddedStore, format_: Format, name: NamedNode | None = None) -> set[Quad]:
    output = io.BytesIO()
    write_dump(store.graph, output, format_, name)
    assert isinstance(format_.engine, RdfFormat)
    return set(pyoxigraph.parse(output.getvalue(), format=format_.engine))


@pytest.mark.parametrize("format_", GRAPH_FORMATS, ids=lambda one: one.name)
def test_prefixes_shorten_turtle_and_trig_alone(store: EmbeddedStore, format_: Format):
    plain, shortened = io.BytesIO(), io.BytesIO()
    write_dump(store.graph, plain, format_)
    write_dump(store.graph, shortened, format_, None, {"ex": EX.iri})
    assert (b"ex:a" in shortened.getvalue()) is (format_.name in ("turtle", "trig"))
    assert set(pyoxigraph.parse(shortened.getvalue(), format=format_.engine)) == dumped(store, format_)


@pytest.mark.parametrize("format_", GRAPH_FORMATS, ids=lambda one: one.name)
def test_every_format_holds_what_it_can_name(store: EmbeddedStore, format_: Format):
    both = format_.name in ("nquads", "trig", "jsonld")
    assert dumped(store, format_) == ({PLAIN, NAMED} if both else {PLAIN})


def test_one_graph_is_dumped_as_triples_a_system_graph_as_well(store: EmbeddedStore):
    assert dumped(store, BY_NAME["turtle"], DERIVED) == {Quad(*SYSTEM.triple, DEFAULT)}
    assert dumped(store, BY_NAME["nquads"], EX.graph) == {Quad(*NAMED.triple, DEFAULT)}


def test_a_checkpoint_is_dumped_by_a_separate_process(store: EmbeddedStore):
    checkpoint = store.acquire()
    done = subprocess.run(
        [sys.executable, "-m", "sparql.storage.dump", str(checkpoint.path), "nquads", "{}"],
        capture_output=True,
        check=True,
    )
    assert set(pyoxigraph.parse(done.stdout, format=RdfFormat.N_QUADS)) == {PLAIN, NAMED}
