"""Two places as prompts describe them, and the eight tools that a model may call about them.

UrbanKGent, section 4.3.2, Table 8. Results of tools are given in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import shapely
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError
from geo.measure.measures import area_m2, length_m
from geo.relate.rcc8 import RCC5, relate
from geo.toolkit import TOOLS, Belonging, Meeting, Tool, kind_of

_DIGITS: Final = 7
_TOLERANCES: Final = (1e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True)
class Place:
    """A place by its name; `type` is what sort of place it is, in words. The geometry is in CRS84."""

    name: str
    type: str = ""
    geometry: BaseGeometry | None = None


@dataclass(frozen=True)
class Pair:
    """A place, and the one that it is compared with."""

    head: Place
    tail: Place

    @property
    def computed(self) -> RCC5 | None:
        """The relation that the geometries themselves have; None where one is missing."""
        if self.head.geometry is None or self.tail.geometry is None:
            return None
        return relate(self.head.geometry, self.tail.geometry).rcc5


def described(place: Place, vertices: int) -> str:
    """A place for a prompt: a line with name, type, kind, box and size, then WKT of at most so many vertices.

    What decides most pairs, such as boxes that lie apart, is then read and not worked out from coordinates.
    """
    name = f"{place.name} ({place.type})" if place.type else place.name
    shape = place.geometry
    if shape is None:
        return f"{name}, whose geometry is not known"
    count = shapely.get_num_coordinates(shape)
    facts = [name, kind_of(shape), f"{count} vertices" if count > 1 else ""]
    if count > 1:
        west, south, east, north = (f"{round(value, _DIGITS):.10g}" for value in shape.bounds)
        facts.append(f"box {west}..{east}, {south}..{north}")
    if area := area_m2(shape):
        facts.append(f"area {_rounded(area / 1e6)} km2")
    elif length := length_m(shape):
        facts.append(f"length {_rounded(length / 1e3)} km")
    if count > vertices:
        shape = _simpler(shape, vertices)
        facts.append(f"drawn here with {shapely.get_num_coordinates(shape)}")
    summary = ", ".join(fact for fact in facts if fact)
    return f"{summary}\n{shapely.to_wkt(shape, rounding_precision=_DIGITS, trim=True)}"


def _rounded(amount: float) -> str:
    return f"{amount:.0f}" if amount >= 100 else f"{amount:.3g}"


def _simpler(shape: BaseGeometry, vertices: int) -> BaseGeometry:
    """The shape with ever fewer vertices until there are few enough; at the end its convex hull or box."""
    tries = (shapely.simplify(shape, tolerance) for tolerance in _TOLERANCES)
    hull = shapely.convex_hull(shape)
    last = (*(shapely.simplify(hull, tolerance) for tolerance in _TOLERANCES), shapely.envelope(shape))
    few = (one for one in (*tries, *last) if 0 < shapely.get_num_coordinates(one) <= vertices)
    return next(few, shapely.envelope(shape))


_BELONGING: Final = {
    Belonging.FIRST_IN_SECOND: "yes, A lies in B",
    Belonging.SECOND_IN_FIRST: "yes, B lies in A",
    Belonging.EQUAL: "A and B are equal",
    Belonging.NEITHER: "no, neither lies in the other",
}
_MEETING: Final = {
    Meeting.TOUCH: "touch (borders only, no inner points in common)",
    Meeting.OVERLAP: "overlap (inner points in common)",
    Meeting.NONE: "none (no point in common)",
}


@dataclass(frozen=True)
class ToolCall:
    """A tool call and its result; `refused` if the tool does not fit.

    `by_model`: the model asked for it, and not the types of the geometries.
    """

    tool: str
    result: str
    refused: bool = False
    by_model: bool = True


def offered() -> str:
    """The list of tools for the prompt."""
    return "\n".join(
        f"- {tool.name}({', '.join(tool.takes)}) -> {tool.gives}: {tool.purpose}" for tool in TOOLS.values()
    )


def results_of(calls: Iterable[ToolCall]) -> str:
    """The results of calls for a prompt, one on each line."""
    return "\n".join(f"- {call.tool}: {call.result}" for call in calls) or "none"


def tools_schema() -> Mapping[str, Any]:
    """The form of a reply that names tools."""
    names = {"type": "array", "items": {"type": "string", "enum": list(TOOLS)}, "maxItems": len(TOOLS)}
    return {"type": "object", "properties": {"tools": names}, "required": ["tools"]}


def call_tools(names: Iterable[str], pair: Pair) -> tuple[ToolCall, ...]:
    """Each tool once, on the pair. A tool that is not for such geometries says so in its result."""
    wanted = [TOOLS[name] for name in dict.fromkeys(names) if name in TOOLS]
    return tuple(_call(tool, pair) for tool in wanted)


def call_fitting_tools(pair: Pair) -> tuple[ToolCall, ...]:
    """Every tool that takes geometries of these types, for a model that names none."""
    called = (_call(tool, pair) for tool in TOOLS.values())
    return tuple(replace(call, by_model=False) for call in called if not call.refused)


def _call(tool: Tool, pair: Pair) -> ToolCall:
    head, tail = pair.head.geometry, pair.tail.geometry
    if head is None or tail is None:
        return ToolCall(tool.name, "cannot be called: a geometry is not known", refused=True)
    try:
        if tool.geometries == 1:
            return ToolCall(tool.name, f"A {tool.call(head)}, B {tool.call(tail)}")
        return ToolCall(tool.name, _words(tool.call(head, tail)))
    except ArgumentError as error:
        return ToolCall(tool.name, f"cannot be called: {error}", refused=True)


def _words(result: object) -> str:
    if isinstance(result, Belonging):
        return _BELONGING[result]
    if isinstance(result, Meeting):
        return _MEETING[result]
    return f"{result:.6f} km" if isinstance(result, float) else str(result)
