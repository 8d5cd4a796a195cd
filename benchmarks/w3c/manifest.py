"""The tests of the suites, read from their manifests (the mf: vocabulary)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat

HOME = "https://w3c.github.io/rdf-tests/sparql/"
"""Where the suites live: relative IRIs of their files are relative to it."""

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"
HT = "http://www.w3.org/2011/http#"
CNT = "http://www.w3.org/2011/content#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"

Value = NamedNode | BlankNode | Literal


@dataclass(frozen=True)
class Node:
    """A node of a manifest with the triples around it."""

    graph: pyoxigraph.Store
    term: Value

    @property
    def text(self) -> str:
        """The IRI or the literal's words."""
        return self.term.value

    def all(self, predicate: str) -> list[Node]:
        if isinstance(self.term, Literal):
            return []
        quads = self.graph.quads_for_pattern(self.term, NamedNode(predicate), None)
        return [
            Node(self.graph, quad.object) for quad in quads if not isinstance(quad.object, pyoxigraph.Triple)
        ]

    def one(self, predicate: str) -> Node | None:
        return next(iter(self.all(predicate)), None)

    def items(self) -> Iterator[Node]:
        """The members of the list that begins here."""
        here: Node | None = self
        while here is not None and (first := here.one(RDF + "first")) is not None:
            yield first
            here = here.one(RDF + "rest")


@dataclass(frozen=True)
class Test:
    """One entry of a manifest.

    ``name`` is the folder and the entry's fragment (`sparql11/bind#bind01`); ``kind`` the local name of its
    class; ``base`` the IRI of the manifest's folder.
    """

    name: str
    kind: str
    entry: Node
    root: Path

    @property
    def suite(self) -> str:
        return self.name.partition("#")[0]

    @property
    def action(self) -> Node:
        found = self.entry.one(MF + "action")
        assert found is not None, f"{self.name} has no mf:action"
        return found

    @property
    def result(self) -> Node | None:
        return self.entry.one(MF + "result")

    def file(self, node: Node) -> Path:
        """The local copy of a file that the manifest names."""
        return local_copy(self.root, node.text)


def local_copy(root: Path, iri: str) -> Path:
    """The file behind an IRI under HOME."""
    return root / iri.removeprefix(HOME)


def read_tests(root: Path, manifest: str) -> Iterator[Test]:
    """The tests of a manifest and of those it includes, in their order; `manifest` is relative to `root`."""
    path = root / manifest
    graph = pyoxigraph.Store()
    graph.load(path=str(path), format=RdfFormat.TURTLE, base_iri=HOME + manifest)
    folder = str(path.parent.relative_to(root))
    for predicate in (MF + "include", MF + "entries"):
        for quad in graph.quads_for_pattern(None, NamedNode(predicate), None):
            assert isinstance(quad.object, NamedNode | BlankNode)
            for entry in Node(graph, quad.object).items():
                if predicate == MF + "include":
                    yield from read_tests(root, entry.text.removeprefix(HOME))
                elif (kind := _kind(entry)) is not None:
                    yield Test(f"{folder}#{entry.text.rpartition('#')[2]}", kind, entry, root)


def _kind(entry: Node) -> str | None:
    for node in entry.all(RDF + "type"):
        local = node.text.rpartition("#")[2]
        if local.endswith(("Test", "Test11")):
            return local.removesuffix("11")
    return None
