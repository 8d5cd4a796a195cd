"""RDF files and the sample city into the graph, through the gate or past it, with progress reported."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyoxigraph import DefaultGraph, Triple

from server.data.brevity import brief, shortened
from server.data.rdf_files import LoadError, OnBytes, rdf_file
from server.reader_language import for_reader
from sparql.model.change import Change, Rejection, Statement, Verdict
from sparql.model.vocabulary import SYSTEM_GRAPHS
from sparql.writing.writer import Writer

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is."""


class Commits(Protocol):
    """What is needed of a writer."""

    def commit(self, change: Change) -> Verdict:
        """Judge a change and write what conforms."""


def load_file(
    writer: Commits, path: Path, *, partial: bool = False, on_bytes: OnBytes = lambda read: None
) -> Verdict:
    """Commit a file as one change; its named graphs stay named. Raises `LoadError`."""
    quads = list(rdf_file(path).quads(on_bytes))
    plain = [quad.triple for quad in quads if isinstance(quad.graph_name, DefaultGraph)]
    named = frozenset(
        quad
        for quad in quads
        if not isinstance(quad.graph_name, DefaultGraph) and quad.graph_name not in SYSTEM_GRAPHS
    )
    change = Change(
        additions=tuple(Statement(triple) for triple in plain), graph_additions=named, partial=partial
    )
    return writer.commit(change)


def load_features(
    writer: Writer, triples: Sequence[Triple], progress: Progress, *, size: int = 60
) -> tuple[int, int]:
    """Commit features one portion at a time; the number of statements and of relations that came with them.

    Raises `LoadError`.
    """
    done = derived = 0
    for portion in _portions(triples, size):
        verdict = writer.commit(Change(additions=tuple(Statement(triple) for triple in portion)))
        if verdict.rejected:
            raise LoadError(f"Refused: {describe(verdict.rejected)}")
        done += len(portion)
        derived += len(verdict.derived.additions)
        progress(done, len(triples))
    return done, derived


@dataclass(frozen=True)
class LoadResult:
    """What became of one load, for people and for the answer of the server.

    `refused` counts the statements kept out, `examples` says why for the first of them; `results` counts
    what a deferred gate found, `violations` those of them that would have been refused; `left_out` counts
    the features of files of which the geometry, or all, could not be used.
    """

    name: str
    accepted: int
    refused: int
    derived: int
    revision: int | None
    examples: str = ""
    results: int = 0
    violations: int = 0
    left_out: int = 0
    hint: str = ""
    """What other settings would change."""


def result_of(name: str, verdict: Verdict) -> LoadResult:
    """Of a load through the gate."""
    return LoadResult(
        name,
        len(verdict.accepted) if verdict.revision is not None or not verdict.rejected else 0,
        len(verdict.rejected),
        len(verdict.derived.additions),
        verdict.revision,
        describe(verdict.rejected),
    )


def describe(rejections: Iterable[Rejection], limit: int = 5, *, besides: int = 0) -> str:
    """The first rejections in words; there are so many besides those given."""
    lines = [
        f"{brief(rejection.statement.triple)}: {shortened(for_reader(violation).message)}"
        for rejection in rejections
        for violation in rejection.violations
    ]
    left = max(len(lines) - limit, 0) + besides
    return "; ".join(lines[:limit]) + (f" (and {left} more)" if left else "")


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
