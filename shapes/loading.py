"""Read the shapes files of a folder into one shapes graph."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph
import rdflib
from pyoxigraph import BlankNode, RdfFormat, Triple

from shapes.errors import ShapesFileUnreadable
from shapes.terms import to_rdflib
from sparql.source import Term

_FORMATS = {".ttl": RdfFormat.TURTLE, ".nt": RdfFormat.N_TRIPLES, ".rdf": RdfFormat.RDF_XML}


@dataclass(frozen=True)
class ShapesFiles:
    """The shapes of a folder: one graph, and a version that changes with any file's content."""

    graph: rdflib.Graph
    version: str
    files: tuple[Path, ...] = ()


def load_shapes(folder: Path) -> ShapesFiles:
    """Read every `*.ttl`, `*.nt` and `*.rdf` directly in the folder; an empty folder demands nothing.

    Raises `ShapesFileUnreadable` with file and line.
    """
    graph = rdflib.Graph(bind_namespaces="none")
    digest = hashlib.sha256()
    files = tuple(sorted(path for path in folder.iterdir() if path.suffix in _FORMATS))
    for number, path in enumerate(files):
        content = path.read_bytes()
        digest.update(content)
        try:
            parsed = pyoxigraph.parse(content, format=_FORMATS[path.suffix], base_iri=path.resolve().as_uri())
            for quad in parsed:
                nodes = tuple(to_rdflib(_scoped(term, number)) for term in quad.triple)
                if None not in nodes:
                    graph.add(nodes)  # type: ignore[arg-type]
            for prefix, namespace in parsed.prefixes.items():
                graph.bind(prefix, namespace)
        except SyntaxError as error:
            raise ShapesFileUnreadable(path, error.lineno, error.msg or str(error)) from error
    return ShapesFiles(graph, digest.hexdigest()[:12], files)


def _scoped(term: Term, number: int) -> Term:
    if isinstance(term, BlankNode):
        return BlankNode(f"f{number}{term.value}")
    if isinstance(term, Triple):
        return Triple(_scoped(term.subject, number), term.predicate, _scoped(term.object, number))  # type: ignore[arg-type]
    return term
