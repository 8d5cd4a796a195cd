"""Relates very many features on an executor, tile by tile, and updates the relations of a graph.

Geometries are written to a folder first; from then on only their boxes and names are in memory. The result of
each tile is kept in that folder too, so that an interrupted run can be resumed: a run over the same features
and settings finds the finished tiles.
"""

import array
import hashlib
import json
import mmap
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import BlankNode, NamedNode, Quad, Triple
from shapely.geometry.base import BaseGeometry

from geo.relate.bulk import Tile, TilePairs, TileTask, relate_tile, tiles_of
from geo.relate.rcc8 import CODES, INVERSE_CODES, PROPERTIES, RCC8, RELATIONS, code_of
from sparql.model.errors import TileLost
from sparql.model.geometry import EXACT, Tolerances, marked
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DERIVED
from sparql.spatial.relations import Node, both_ways, located_features

FEATURES_PER_TILE = 20_000
_GEOMETRIES, _RUN = "geometries.wkb", "run.json"

Numbers = NDArray[numpy.int64]
Codes = NDArray[numpy.int8]
OnTile = Callable[[int, int, int], None]
"""Called with the number of finished tiles, of all tiles, and of pairs examined in the last one."""


@dataclass(frozen=True)
class RelatedPair:
    """Two features, by name, and how the first relates to the second."""

    left: str
    relation: RCC8
    right: str


class TiledRun:
    """One run over all features of a source, kept in its own folder under `folder`.

    `features` gives names and CRS84 geometries; a name with several geometries occurs several times. Empty
    geometries are related to nothing. `tolerance_of` gives the tolerance of a feature in a layer, else None.
    Remains of runs over other features are removed.
    """

    def __init__(
        self,
        folder: Path,
        features: Iterable[tuple[str, BaseGeometry]],
        *,
        tolerances: Tolerances = EXACT,
        tolerance_of: Callable[[str], float | None] = lambda name: None,
        features_per_tile: int = FEATURES_PER_TILE,
    ) -> None:
        self.tolerances = tolerances
        self._spool = _Spool(folder / "reading")
        settings = f"{tolerances.description} {features_per_tile} {shapely.geos_version}"
        fingerprint = self._spool.fill(features, settings)
        own = [tolerance_of(name) for name in self._spool.names] if tolerances.layers else []
        usual = tolerances.default_m
        self._own = numpy.array([usual if meters is None else meters for meters in own], dtype=numpy.float64)
        if tolerances.layers:
            fingerprint += hashlib.blake2b(self._own.tobytes(), digest_size=4).hexdigest()
        self.folder = folder / fingerprint
        for other in [path for path in folder.iterdir() if path not in (self.folder, self._spool.folder)]:
            shutil.rmtree(other)
        self.resumed = self.folder.is_dir()
        if self.resumed:
            shutil.rmtree(self._spool.folder)
        else:
            self._spool.folder.replace(self.folder)
        self._spool.folder = self.folder
        self._tiles = list(tiles_of(self._spool.bounds, tolerances.largest_m, features_per_tile))

    def __len__(self) -> int:
        return len(self._tiles)

    @property
    def features(self) -> int:
        """The number of features."""
        return len(self._spool.names)

    @property
    def finished(self) -> int:
        """The number of finished tiles."""
        return sum(self._file(tile.number).exists() for tile in self._tiles)

    def run(
        self, executor: Executor, *, at_once: int, on_tile: OnTile = lambda done, all_, pairs: None
    ) -> None:
        """Relate the unfinished tiles, `at_once` of them in parallel. Raises TileLost."""
        open_tiles = iter([tile for tile in self._tiles if not self._file(tile.number).exists()])
        done = self.finished
        on_tile(done, len(self), 0)
        waiting: set[Future[TilePairs]] = set()
        try:
            while True:
                for tile in open_tiles:
                    waiting.add(executor.submit(relate_tile, self._task(tile)))
                    if len(waiting) >= at_once:
                        break
                if not waiting:
                    return
                ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in ended:
                    found = future.result()
                    self._keep(found)
                    done += 1
                    on_tile(done, len(self), found.looked_at)
        except (RuntimeError, CancelledError, OSError, ImportError) as error:
            # A broken pool, or a cluster that cannot unpickle the task, raises RuntimeError.
            reason = " ".join(str(error).split()).partition(". ")[0].rstrip(".")
            raise TileLost(f"{type(error).__name__}: {reason}") from error
        finally:
            for future in waiting:
                future.cancel()

    @property
    def names(self) -> list[str]:
        """The features by number."""
        return self._spool.names

    def arrays(self) -> Iterator[tuple[Numbers, Numbers, Codes]]:
        """The pairs of features that are not disconnected, tile by tile: two feature numbers and a code.

        A pair occurs once per pair of their geometries; a feature is never paired with itself.
        """
        feature_of = self._spool.feature_of
        for tile in self._tiles:
            with numpy.load(self._file(tile.number)) as kept:
                left, right, codes = feature_of[kept["left"]], feature_of[kept["right"]], kept["codes"]
            apart = left != right
            yield left[apart], right[apart], codes[apart]

    def pairs(self) -> Iterator[RelatedPair]:
        """The same, one by one and by name."""
        for left, right, codes in self.arrays():
            for a, b, code in zip(left.tolist(), right.tolist(), codes.tolist(), strict=True):
                yield RelatedPair(self.names[a], CODES[code], self.names[b])

    def remove(self) -> None:
        """Remove the folder of the run."""
        shutil.rmtree(self.folder)

    def _task(self, tile: Tile) -> TileTask:
        pieces = self._spool.read(tile.rows)
        offsets = numpy.cumsum([0, *map(len, pieces)], dtype=numpy.int64)
        layered = self.tolerances.layers
        meters = self._own[self._spool.feature_of[tile.rows]] if layered else self.tolerances.default_m
        return TileTask(tile.number, b"".join(pieces), offsets, tile.first, meters)

    def _keep(self, found: TilePairs) -> None:
        """Write a tile's result, with rows instead of positions; an existing file is always complete."""
        rows = self._tiles[found.number].rows.astype(numpy.int32)
        path = self._file(found.number)
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            numpy.savez(file, left=rows[found.left], right=rows[found.right], codes=found.codes)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)

    def _file(self, number: int) -> Path:
        return self.folder / f"strip-{number:06}.npz"


class _Spool:
    """Geometries in a file; their offsets, boxes and owners in memory."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder = folder
        self.names: list[str] = []
        self.feature_of: NDArray[numpy.int64] = numpy.zeros(0, dtype=numpy.int64)
        self.bounds: NDArray[numpy.float64] = numpy.zeros((0, 4))
        self._offsets: NDArray[numpy.int64] = numpy.zeros(1, dtype=numpy.int64)

    def fill(self, features: Iterable[tuple[str, BaseGeometry]], settings: str) -> str:
        """Write all geometries; returns the fingerprint of everything that the result depends on."""
        digest = hashlib.blake2b(settings.encode(), digest_size=12)
        numbers: dict[str, int] = {}
        feature_of, sizes, bounds = array.array("q"), array.array("q"), array.array("d")
        with (self.folder / _GEOMETRIES).open("wb") as file:
            for name, shape in features:
                binary = shapely.to_wkb(shape)
                file.write(binary)
                digest.update(name.encode() + b"\0" + binary)
                feature_of.append(numbers.setdefault(name, len(numbers)))
                sizes.append(len(binary))
                bounds.extend(shape.bounds)
        self.names = list(numbers)
        self.feature_of = numpy.array(feature_of, dtype=numpy.int64)
        self.bounds = numpy.array(bounds, dtype=numpy.float64).reshape(-1, 4)
        self._offsets = numpy.concatenate([[0], numpy.cumsum(sizes)]).astype(numpy.int64)
        facts = {"features": len(self.names), "geometries": len(self.feature_of), "settings": settings}
        (self.folder / _RUN).write_text(json.dumps(facts), encoding="utf-8")
        return digest.hexdigest()

    def read(self, rows: NDArray[numpy.intp]) -> list[bytes]:
        """The geometries of some rows as well-known binary."""
        starts, ends = self._offsets[rows].tolist(), self._offsets[rows + 1].tolist()
        with (
            (self.folder / _GEOMETRIES).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory,
        ):
            return [memory[start:end] for start, end in zip(starts, ends, strict=True)]


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
