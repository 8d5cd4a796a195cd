"""RDF files and the sample city into the graph, through the gate, with progress told."""

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyoxigraph
from pyoxigraph import DefaultGraph, Quad, RdfFormat, Triple

from server.errors import ServerError
from sparql.change import Change, Rejection, Statement, Verdict
from sparql.vocabulary import SYSTEM_GRAPHS
from sparql.writer import Writer

_FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".trig": RdfFormat.TRIG,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
    ".xml": RdfFormat.RDF_XML,
    ".jsonld": RdfFormat.JSON_LD,
}
Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is."""


class LoadError(ServerError):
    """A file that cannot be loaded; nothing of it was."""


def read_rdf(path: Path) -> list[Quad]:
    """The quads of an RDF file, gzipped or not. Raises `LoadError` with file and line."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    format_ = _FORMATS.get(plain.suffix.lower())
    if format_ is None:
        raise LoadError(f"{path}: not an RDF file by its name. Known are {', '.join(sorted(_FORMATS))}.")
    try:
        content = path.read_bytes()
        data = gzip.decompress(content) if path.suffix == ".gz" else content
        return list(pyoxigraph.parse(data, format=format_, base_iri=path.resolve().as_uri()))
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise LoadError(f"{path}{line}: {error.msg}. Mend it there; nothing was loaded.") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise LoadError(f"{path} cannot be read: {reason}. Give an existing file.") from error


def load_file(writer: Writer, path: Path, *, partial: bool = False) -> Verdict:
    """Commit a file as one change; its named graphs stay named. Raises `LoadError`."""
    quads = read_rdf(path)
    plain = [quad.triple for quad in quads if isinstance(quad.graph_name, DefaultGraph)]
    named = frozenset(quad for quad in quads if not isinstance(quad.graph_name, DefaultGraph))
    named = frozenset(quad for quad in named if quad.graph_name not in SYSTEM_GRAPHS)
    change = Change(
        additions=tuple(Statement(triple) for triple in plain), graph_additions=named, partial=partial
    )
    return writer.commit(change)


def load_features(writer: Writer, triples: Sequence[Triple], progress: Progress, *, size: int = 60) -> int:
    """Commit features one portion at a time; the number of statements. Raises `LoadError`."""
    done = 0
    for portion in _portions(triples, size):
        verdict = writer.commit(Change(additions=tuple(Statement(triple) for triple in portion)))
        if verdict.rejected:
            raise LoadError(f"Refused: {describe(verdict.rejected)}")
        done += len(portion)
        progress(done, len(triples))
    return done


def describe(rejections: Iterable[Rejection], limit: int = 5) -> str:
    """The first rejections in words."""
    told = [
        f"{rejection.statement.triple}: {violation.message}"
        for rejection in rejections
        for violation in rejection.violations
    ]
    more = f" (and {len(told) - limit} more)" if len(told) > limit else ""
    return "; ".join(told[:limit]) + more


def _portions(triples: Sequence[Triple], size: int) -> Iterator[list[Triple]]:
    """Triples in order, cut only between features (a geometry belongs to the feature before it)."""
    portion: list[Triple] = []
    features: set[str] = set()
    for triple in triples:
        name = str(triple.subject).strip("<>").removesuffix("/geometry")
        if name not in features and len(features) >= size:
            yield portion
            portion, features = [], set()
        features.add(name)
        portion.append(triple)
    if portion:
        yield portion
