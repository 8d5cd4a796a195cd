"""RDF files and the sample city into the graph, through the gate or past it, with progress reported.

What a load prints is short: no geometry is printed whole, and of long lists the first five.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from pyoxigraph import DefaultGraph, Literal, Triple

from server.data.rdf_files import LoadError, OnBytes, rdf_file
from server.reader_language import for_reader
from sparql.model.change import Change, Rejection, Statement, Verdict
from sparql.model.vocabulary import SYSTEM_GRAPHS
from sparql.writing.writer import Writer

FIRST: Final = 5
"""How many of a list are printed."""
_LONGEST_VALUE: Final = 40
_LONGEST_MESSAGE: Final = 320


def brief(triple: Triple) -> str:
    """A statement in N-Triples, with the middle of a long literal left out."""
    return " ".join(_term(term) for term in (triple.subject, triple.predicate, triple.object))


def shortened(message: str, longest: int = _LONGEST_MESSAGE) -> str:
    """A message of one line; of a longer one its length, its beginning, and its end with the reason."""
    line = " ".join(message.split())
    if len(line) <= longest:
        return line
    note = f" ... ({len(line)} characters) ... "
    each = (longest - len(note)) // 2
    return f"{line[:each].rstrip()}{note}{line[-each:].lstrip()}"


def first_of(messages: Sequence[str], count: int | None = None) -> list[str]:
    """The first messages, shortened, and how many more there are of `count`."""
    shown = [shortened(message) for message in messages[:FIRST]]
    left = (len(messages) if count is None else count) - len(shown)
    return [*shown, f"(and {left} more)"] if left > 0 else shown


def listed(names: Iterable[object]) -> str:
    """The first names with commas between, and how many more there are."""
    every = [str(name) for name in names]
    more = f" and {len(every) - FIRST} more" if len(every) > FIRST else ""
    return ", ".join(every[:FIRST]) + more


def _term(term: object) -> str:
    if not isinstance(term, Literal) or len(term.value) <= _LONGEST_VALUE:
        return str(term)
    return f'"{term.value[:_LONGEST_VALUE]} ..." ({len(term.value)} characters)'


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
