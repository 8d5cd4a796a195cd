"""Which packages of `extractors` import which."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere, also inside functions and for types only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("text", ("english", "grounding", "checks", "models", "prompting", "readers", "completion")),
        ("grounding", ("checks", "models", "readers", "completion")),
        ("english", ("checks", "models", "prompting", "readers", "completion")),
        ("checks", ("english", "models", "prompting", "readers", "completion")),
        ("readers", ("checks", "completion")),
        ("completion", ("grounding", "checks", "english")),
        ("models", ("prompting", "text", "english", "grounding", "checks", "readers", "completion")),
    ],
)
def test_a_package_does_not_import_those_above_it(package: str, forbidden: tuple[str, ...]) -> None:
    for path in (ROOT / "extractors" / package).rglob("*.py"):
        for name in imported(path):
            assert not name.startswith(tuple(f"extractors.{one}." for one in forbidden)), (path, name)
