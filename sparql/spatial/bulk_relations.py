"""Updates the derived relations of a whole graph from a run over tiles."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

import numpy
from numpy.typing import NDArray
from pyoxigraph import BlankNode, NamedNode, Quad, Triple
from shapely.geometry.base import BaseGeometry

from geo.relate.rcc8 import CODES, INVERSE_CODES, PROPERTIES, RELATIONS, code_of
from sparql.model.geometry import EXACT, Tolerances
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DERIVED
from sparql.spatial.relation_basis import marked
from sparql.spatial.relations import Node, both_ways, located_features
from sparql.spatial.tiled_run import FEATURES_PER_TILE, RelatedPair, TiledRun

_PORTION = 50_000
"""Relations are passed on in portions: some 80 MB in the bulk loader, which would keep up to 2.4 GB."""


@dataclass(frozen=True)
class Rederived:
    """How many stored relations were added and removed, how many there are now, and the revision."""

    added: int
    removed: int
    relations: int
    revision: int


class DerivedTriplesWriter(Protocol):
    """Commits the relations; implemented by the writer."""

    def rederive(
        self,
        additions: Iterable[Collection[Triple]],
        removals: Iterable[Collection[Triple]],
        marks: tuple[Collection[Quad], Collection[Quad]],
    ) -> int: ...


def open_run(
    store: TripleStore,
    folder: Path,
    *,
    tolerances: Tolerances = EXACT,
    features_per_tile: int = FEATURES_PER_TILE,
    on_geometry: Callable[[], None] = lambda: None,
) -> TiledRun:
    """Read the features of a graph into a run, or resume one over the same features."""

    def read() -> Iterator[tuple[str, BaseGeometry]]:
        for node, geometry in located_features(store):
            on_geometry()
            yield str(node), geometry

    own = {str(node): meters for node, meters in tolerances.all_own(store).items()}
    return TiledRun(
        folder, read(), tolerances=tolerances, tolerance_of=own.get, features_per_tile=features_per_tile
    )


def commit_run(writer: DerivedTriplesWriter, store: TripleStore, run: TiledRun) -> Rederived:
    """Replace the stored relations with those of a finished run.

    After a crash in the middle, the next opening of the folder derives them again.
    """
    found = _Relations(run)
    derived = store.named(DERIVED)
    # A snapshot, however much later it is read.
    before = [store.match_quads(None, predicate, None, DERIVED) for predicate in PROPERTIES.values()]
    added = removed = 0

    def additions() -> Iterator[Triple]:
        nonlocal added
        for triple in found:
            if next(derived.match(triple.subject, triple.predicate, triple.object), None) is None:
                added += 1
                yield triple

    def removals() -> Iterator[Triple]:
        nonlocal removed
        for quad in chain.from_iterable(before):
            if quad.triple not in found:
                removed += 1
                yield quad.triple

    marks = marked(store, run.tolerances, whole=True, first=False)
    revision = writer.rederive(_portions(additions()), _portions(removals()), marks)
    return Rederived(added, removed, len(found), revision)


def relation_triples(pairs: Iterable[RelatedPair]) -> Iterator[Triple]:
    """The statements of related pairs, in both directions."""
    for pair in pairs:
        yield from both_ways(_node(pair.left), pair.relation, _node(pair.right))


class _Relations:
    """All relations of a run, both directions, each once: eight bytes a relation, sixteen at first."""

    def __init__(self, run: TiledRun) -> None:
        self._names = run.names
        self._numbers = {name: number for number, name in enumerate(run.names)}
        parts: list[NDArray[numpy.int64]] = [numpy.zeros(0, dtype=numpy.int64)]
        for left, right, codes in run.arrays():
            parts.append(self._keys(left, codes, right))
            parts.append(self._keys(right, INVERSE_CODES[codes], left))
        # In place: numpy.unique would take sixty bytes a relation.
        found = numpy.concatenate(parts)
        parts.clear()
        found.sort()
        once = numpy.ones(len(found), dtype=bool)
        numpy.not_equal(found[1:], found[:-1], out=once[1:])
        self._found = found[once]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Triple]:
        count = len(self._names)
        for first in range(0, len(self._found), _PORTION):
            for key in self._found[first : first + _PORTION].tolist():
                rest, right = divmod(key, count)
                left, code = divmod(rest, len(CODES))
                yield Triple(_node(self._names[left]), PROPERTIES[CODES[code]], _node(self._names[right]))

    def __contains__(self, triple: Triple) -> bool:
        left, right = self._numbers.get(str(triple.subject)), self._numbers.get(str(triple.object))
        if left is None or right is None:
            return False
        code = code_of(RELATIONS[triple.predicate])
        key = (left * len(CODES) + code) * len(self._names) + right
        place = int(numpy.searchsorted(self._found, key))
        return place < len(self._found) and int(self._found[place]) == key

    def _keys(
        self, left: NDArray[numpy.int64], codes: NDArray[numpy.int8], right: NDArray[numpy.int64]
    ) -> NDArray[numpy.int64]:
        keys: NDArray[numpy.int64] = (left * len(CODES) + codes) * len(self._names) + right
        return keys


def _portions(triples: Iterable[Triple]) -> Iterator[list[Triple]]:
    rest = iter(triples)
    while portion := list(islice(rest, _PORTION)):
        yield portion


def _node(name: str) -> Node:
    return NamedNode(name[1:-1]) if name.startswith("<") else BlankNode(name.removeprefix("_:"))
