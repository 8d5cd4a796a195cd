"""The example graphs that stand beside shape files: `examples/NAME/pass*.ttl` and `fail*.ttl`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

_MOST = 20
_MOST_CHARS = 20_000
_NAME = re.compile(r"[#/:]([\w.-]+)$")


@dataclass(frozen=True)
class ShapeExample:
    """A small graph, and whether the shape lets it pass."""

    name: str
    passes: bool
    turtle: str

    def as_json(self) -> dict[str, object]:
        """As the API gives it."""
        return asdict(self)


def examples_of(folder: Path, shape: str) -> Iterator[ShapeExample]:
    """The examples of the shape with this IRI; those that fail first."""
    found = _NAME.search(shape)
    if found is None or found[1].strip(".") == "":
        return
    for path in sorted((folder / "examples" / found[1]).glob("*.ttl"))[:_MOST]:
        if path.stem.startswith(("pass", "fail")):
            text = path.read_text(encoding="utf-8", errors="replace")[:_MOST_CHARS]
            yield ShapeExample(path.name, path.stem.startswith("pass"), text)
