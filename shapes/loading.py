"""Read the shapes files of a folder into one shapes graph."""

import hashlib
from codecs import BOM_UTF8
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph
import rdflib
from pyoxigraph import BlankNode, Triple
from rdflib.namespace import RDF, SH

from ontology.loading import OntologyFile
from shapes.configuration import FORMATS, Generation
from shapes.errors import ShapesFileUnreadable
from shapes.graph import add_all, graph_in_memory, to_rdflib
from sparql.model.source import Term


@dataclass(frozen=True)
class ShapesFiles:
    """The shapes of a folder: one graph, and a version that changes with any file's content."""

    graph: rdflib.Graph
    version: str
    files: tuple[Path, ...] = ()
    sources: tuple[OntologyFile, ...] = ()
    """The files as they were read."""
    generated: tuple[Triple, ...] = ()
    """The shapes made from the ontology; they are in the graph too."""
    generation: Generation = "off"
    """How they were made."""


def load_shapes(
    folder: Path,
    edits: Mapping[str, bytes | None] | None = None,
    problems: list[ShapesFileUnreadable] | None = None,
) -> ShapesFiles:
    """Read every `*.ttl`, `*.nt` and `*.rdf` directly in the folder; an empty folder requires nothing.

    `edits` replace files of these names (None: the file is absent), so that a change can be checked before it
    is made. Raises `ShapesFileUnreadable` with file and line, which names all unreadable files. With
    `problems`, what can be read is returned, and the errors are added to that list.
    """
    edited = edits or {}
    if not folder.is_dir():
        raise ShapesFileUnreadable(folder, None, "there is no such folder; create it, it may be empty")
    names = {path.name for path in folder.iterdir() if path.suffix in FORMATS and path.is_file()}
    names |= {name for name in edited if Path(name).suffix in FORMATS}
    names -= {name for name, content in edited.items() if content is None}
    return shapes_of([(folder / name, edited.get(name)) for name in sorted(names)], problems)


def shapes_of(
    files: list[tuple[Path, bytes | None]], problems: list[ShapesFileUnreadable] | None = None
) -> ShapesFiles:
    """The same for a list of files; given content replaces that of the file."""
    found: list[ShapesFileUnreadable] = [] if problems is None else problems
    graph = graph_in_memory()
    digest = hashlib.sha256()
    sources = []
    for number, (path, given) in enumerate(files):
        try:
            content = _read(path) if given is None else given
            digest.update(content)
            sources.append(_parse(path, content, number, graph))
        except ShapesFileUnreadable as error:
            found.append(error)
    if found and problems is None:
        raise found[0].with_others(found[1:])
    _type_shapes(graph)
    paths = tuple(path for path, _ in files)
    return ShapesFiles(graph, digest.hexdigest()[:12], paths, tuple(sources))


def _type_shapes(graph: rdflib.Graph) -> None:
    """Type each node with a target as a shape (SHACL, 2.1): the engine skips others."""
    for predicate in (SH.targetClass, SH.targetNode, SH.targetSubjectsOf, SH.targetObjectsOf):
        for node in set(graph.subjects(predicate, None)):
            kind = SH.NodeShape if graph.value(node, SH.path) is None else SH.PropertyShape
            graph.add((node, RDF.type, kind))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ShapesFileUnreadable(path, None, error.strerror or str(error)) from error


def _parse(path: Path, content: bytes, number: int, graph: rdflib.Graph) -> OntologyFile:
    triples = []
    graph_triples: list[Any] = []
    # Most terms occur often, and to make one of rdflib is dear.
    made: dict[Term, rdflib.term.Node | None] = {}
    try:
        parsed = pyoxigraph.parse(
            content.removeprefix(BOM_UTF8), format=FORMATS[path.suffix], base_iri=path.resolve().as_uri()
        )
        for quad in parsed:
            triples.append(quad.triple)
            for term in quad.triple:
                if term not in made:
                    made[term] = to_rdflib(_scoped(term, number))
            nodes = tuple(made[term] for term in quad.triple)
            if None not in nodes:
                graph_triples.append(nodes)
    except (SyntaxError, ValueError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ShapesFileUnreadable(path, line, reason or str(error)) from error
    add_all(graph, graph_triples)
    for prefix, namespace in parsed.prefixes.items():
        graph.bind(prefix, namespace)
    return OntologyFile(
        path, tuple(triples), dict(parsed.prefixes), hashlib.sha256(content).hexdigest(), content
    )


def _scoped(term: Term, number: int) -> Term:
    if isinstance(term, BlankNode):
        return BlankNode(f"f{number}{term.value}")
    if isinstance(term, Triple):
        return Triple(_scoped(term.subject, number), term.predicate, _scoped(term.object, number))  # type: ignore[arg-type]
    return term
