"""Examples of requests and answers, which `clients/record_examples.py` records of a server with the demo."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Example:
    """One request and its answer: their contents under their media types; none where there is no body."""

    status: str
    request: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=dict)


def examples() -> dict[str, Example]:
    """The examples by the identifiers of their operations."""
    text = files("server.http.description").joinpath("examples.json").read_text(encoding="utf-8")
    return {name: Example(**members) for name, members in json.loads(text).items()}


def add_example(operation: dict[str, Any], example: Example) -> None:
    """Put an example where the description of its operation has its media types."""
    answer = operation["responses"].get(example.status, {})
    for described, contents in (
        (operation.get("requestBody", {}), example.request),
        (answer, example.answer),
    ):
        for kind, content in contents.items():
            if kind in described.get("content", {}):
                described["content"][kind] = {**described["content"][kind], "example": content}
