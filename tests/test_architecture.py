"""The rooms import in one direction only (docs/architecture.md)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "geo": set(),
    "ontology": set(),
    "extractors": {"geo", "ontology"},
    "sparql": {"geo", "ontology", "extractors"},
    "shapes": {"geo", "ontology", "sparql"},
    "curation": {"geo", "ontology", "sparql", "shapes"},
    "server": {"geo", "ontology", "extractors", "sparql", "shapes", "curation"},
}


def modules_imported_by(path: Path) -> list[str]:
    """The modules that a file imports anywhere, also inside functions."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.append(node.module)
    return names


def rooms_imported_by(path: Path) -> set[str]:
    """The rooms that a file imports anywhere, also inside functions."""
    return {name.partition(".")[0] for name in modules_imported_by(path)} & MAY_IMPORT.keys()


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_it_stands_on(room: str) -> None:
    files = list((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        extra = rooms_imported_by(path) - MAY_IMPORT[room] - {room}
        assert not extra, f"{path.relative_to(ROOT)} imports {', '.join(sorted(extra))}"


def test_the_domain_stands_in_files_and_not_in_code() -> None:
    for room in MAY_IMPORT:
        for path in (ROOT / room).rglob("*.py"):
            assert "w3id.org/urbankg/urban" not in path.read_text(encoding="utf-8"), path


def test_tests_import_nothing_from_benchmarks() -> None:
    """What both use is in tests/support; a test of a benchmark program is in tests/benchmarks."""
    for path in (ROOT / "tests").rglob("*.py"):
        if path.parent.name != "benchmarks":
            names = modules_imported_by(path)
            assert not [name for name in names if name.partition(".")[0] == "benchmarks"], path
