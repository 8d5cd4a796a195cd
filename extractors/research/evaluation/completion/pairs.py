"""Pairs of places from files: the benchmark's own form, or a head and a tail in any JSON lines."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import shapely

from extractors.completion import Pair, Place
from extractors.errors import EvaluationError
from extractors.prompting.reply import ReplyTriple
from extractors.sources.mapping import folded
from extractors.sources.reading import plain_text, read_shape
from extractors.sources.record import BrokenRecord
from extractors.sources.rows import Row, rows_of
from geo.errors import GeoError

__all__ = ["NumberedPair", "choose", "pairs_among", "read_pairs"]


@dataclass(frozen=True)
class NumberedPair:
    """A pair with the place of its file where it stands; `identifier` is the same for the same pair."""

    identifier: str
    place: str
    pair: Pair


def read_pairs(paths: Iterable[Path]) -> Iterator[NumberedPair | BrokenRecord]:
    """The pairs of files in order; what cannot be read, or has no geometry to compute from, is reported.

    A row is `{"head": {"name", "type", "geometry"}, "tail": {...}}`, or has fields such as `head name`,
    `head type` and `head geometry value`. Raises SourceError where a file as a whole cannot be read.
    """
    for path in paths:
        for row in rows_of(path):
            yield row if isinstance(row, BrokenRecord) else _pair(row)


def pairs_among(triples: Iterable[ReplyTriple], places: Mapping[str, Place]) -> list[NumberedPair]:
    """The pairs that extracted triples relate and that both have a geometry, each once (UrbanKGent, 3.1).

    `places` are by their names, whose case does not matter.
    """
    known = {folded(name): place for name, place in places.items() if place.geometry is not None}
    found: dict[frozenset[str], NumberedPair] = {}
    for triple in triples:
        ends = [folded(triple.subject), folded(triple.object)]
        if len(set(ends)) == 2 and all(end in known for end in ends):
            pair = Pair(*(known[end] for end in ends))
            found.setdefault(frozenset(ends), NumberedPair(_identifier(pair), "", pair))
    return list(found.values())


def choose(pairs: Sequence[NumberedPair], limit: int | None, seed: int) -> list[NumberedPair]:
    """So many pairs, drawn uniformly, in the order of the files. Raises EvaluationError without any."""
    if not pairs:
        raise EvaluationError("There are no pairs with two geometries: name files that hold some.")
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = sorted(random.Random(seed).sample(range(len(pairs)), limit))
    return [pairs[place] for place in chosen]


def _pair(row: Row) -> NumberedPair | BrokenRecord:
    values = {folded(name): value for name, value in row.values.items() if isinstance(name, str)}
    try:
        head, tail = _place("head", values), _place("tail", values)
    except (GeoError, shapely.GEOSException, ValueError) as error:
        return BrokenRecord(row.place, str(error))
    pair = Pair(head, tail)
    return NumberedPair(_identifier(pair), row.place, pair)


def _identifier(pair: Pair) -> str:
    shapes = ((place.name, place.geometry) for place in (pair.head, pair.tail))
    parts = (part for name, shape in shapes for part in (name, "" if shape is None else shape.wkb_hex))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _place(side: str, values: Mapping[str, Any]) -> Place:
    given = values.get(side)
    if isinstance(given, dict):
        fields = {folded(str(name)): value for name, value in given.items()}
    else:
        start = f"{side} "
        fields = {name.removeprefix(start): value for name, value in values.items() if name.startswith(start)}
    name, kind = (
        plain_text(_first(fields, one)) for one in (("name", "entity name"), ("type", "entity type"))
    )
    value = _first(fields, ("geometry", "geometry value", "wkt"))
    geometry = None if value is None else read_shape(value)
    if geometry is None:
        raise ValueError(f"the {side} has no geometry, and no relation can be computed without")
    return Place(name.replace("_", " "), kind, geometry)


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)
