"""The relation of two geometries that a client sends, computed within limits of time and memory.

Lines that cross each other everywhere, or thousands of nested collections, take minutes from a small body,
and nothing stops such a computation but the end of its process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from geo.errors import GeoError
from server.errors import GeometryTooCostly, InvalidBody
from sparql.workers.task import Task, TaskFailed, TaskMemoryExceeded, TaskTimeout

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from geo.relate.rcc8 import RCC5

_SHORT: Final = 2_000
"""Characters up to which two geometries are related in this process: at most some 60,000 crossings."""
Given = str | dict[str, Any] | None


@dataclass(frozen=True)
class Related:
    """Both geometries, None where one is missing, and what they say."""

    a: BaseGeometry | None
    b: BaseGeometry | None
    answer: dict[str, Any]


def relate_within_limits(
    a: Given,
    b: Given,
    tolerance_m: float,
    *,
    timeout_s: float,
    memory_bytes: int,
    wanted: Callable[[], bool] = lambda: True,
) -> Related:
    """Read and relate them; blocks. `wanted` is polled, and the computation ends when it returns False.

    Raises `InvalidBody` for what is no geometry, `GeometryTooCostly`, and `ReaderLost`.
    """
    first, second = _text("a", a), _text("b", b)
    if len(first or "") + len(second or "") <= _SHORT:
        return relate(first, second, tolerance_m)
    limits = f"{timeout_s:g} s or {memory_bytes // 2**20} MB of memory"
    try:
        found = list(
            Task(memory_bytes).run(
                relate_apart, first, second, tolerance_m, timeout_s=timeout_s, wanted=wanted
            )
        )
    except (TaskTimeout, TaskMemoryExceeded, TaskFailed) as error:
        raise GeometryTooCostly(limits) from error
    if not found:
        raise GeometryTooCostly(limits)
    if isinstance(found[0], list):
        raise InvalidBody(found[0])
    return found[0]


def _text(place: str, given: Given) -> str | None:
    """A geometry as text. Raises `InvalidBody` where it nests too deep to be written."""
    try:
        return json.dumps(given) if isinstance(given, dict) else given
    except RecursionError as error:
        raise InvalidBody(
            [(place, "the geometry nests too deep; send its parts in one collection")]
        ) from error


def relate_apart(
    a: str | None, b: str | None, tolerance_m: float
) -> Iterator[Related | list[tuple[str, str]]]:
    """The same for a process of its own: what `relate` returns, or the problems of its `InvalidBody`."""
    try:
        yield relate(a, b, tolerance_m)
    except InvalidBody as error:
        yield list(error.problems)


def relate(a: str | None, b: str | None, tolerance_m: float) -> Related:
    """Read and relate them. Raises `InvalidBody`."""
    first, second = _geometry("a", a), _geometry("b", b)
    return Related(first, second, _computed(first, second, tolerance_m))


def of_five(relation: RCC5 | None) -> dict[str, str | None]:
    """A relation as one of five, and which geometry lies inside where one does."""
    if relation is None:
        return {"relation": None, "inside": None}
    inside = {"IN": "a", "INi": "b"}.get(relation.value)
    return {"relation": "IN" if inside else relation.value, "inside": inside}


def _computed(a: BaseGeometry | None, b: BaseGeometry | None, tolerance_m: float) -> dict[str, Any]:
    """What the geometries say, within the tolerance of the graph's relations; nulls where one is missing."""
    from geo.functions.topology import SIMPLE_FEATURES
    from geo.measure.measures import distance_m
    from geo.relate.tolerance import relate_within

    if a is None or b is None:
        names = ("rcc8", "rcc5", "simple_features", "relate", "tolerance_m", "distance_m", "distance_km")
        return {"computed": False, **of_five(None), **dict.fromkeys(names)}
    relation, meters = relate_within(a, b, tolerance_m), distance_m(a, b)
    return {
        "computed": True,
        **of_five(relation.rcc5),
        "rcc8": relation.rcc8.value,
        "rcc5": relation.rcc5.value,
        "simple_features": [name for name, (holds, _) in SIMPLE_FEATURES.items() if holds(a, b)],
        "relate": relation.matrix,
        "tolerance_m": relation.tolerance_m,
        "distance_m": meters,
        "distance_km": meters / 1000,
    }


def _geometry(place: str, value: str | None) -> BaseGeometry | None:
    from extractors.sources.mapping import read_shape

    if value is None:
        return None
    try:
        geometry = read_shape(value)
    except GeoError as error:
        raise InvalidBody([(place, str(error))]) from error
    if geometry is None:
        raise InvalidBody([(place, "an empty geometry relates to nothing; send one with coordinates")])
    return geometry
