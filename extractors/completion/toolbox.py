"""The eight tools that the model may call, with results in words (UrbanKGent, section 4.3.2, Table 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from extractors.completion.pair import Pair
from geo.errors import ArgumentError
from geo.toolkit import TOOLS, Belonging, Meeting, Tool

__all__ = ["ToolCall", "call_fitting_tools", "call_tools", "offered", "results_of", "tools_schema"]

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
