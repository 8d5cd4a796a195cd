"""The rooms import in one direction only (docs/architecture.md)."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
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
KNOWN_BACKWARD_IMPORTS = {
    ("sparql.model.triple_store", "sparql.storage.embedded_store"),
    ("sparql.rewriting.index.geometry_state", "sparql.rewriting.index.features"),
    ("sparql.rewriting.index.geometry_state", "sparql.rewriting.index.geometries"),
}
"""Imports that close a circle, to be repaired. None may be added."""


def rooms_imported_by(path: Path) -> set[str]:
    """The rooms that a file imports anywhere, also inside functions."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.append(node.module)
    return {name.partition(".")[0] for name in names} & MAY_IMPORT.keys()


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


def modules() -> dict[str, Path]:
    """The product's files by the names of their modules."""
    files = (path for package in MAY_IMPORT for path in (ROOT / package).rglob("*.py"))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
    }


def imported_names(path: Path) -> Iterator[str]:
    """What a file imports: at its top, for types only, or inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=0):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name))]):
                yield name
            case ast.ImportFrom():
                raise AssertionError(f"{path} has a relative import")


def module_graph() -> dict[str, set[str]]:
    """The modules that each module imports."""
    known = modules()
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        found = {one if one in known else one.rpartition(".")[0] for one in imported_names(path)}
        graph[name] = {one for one in found if one in known and one != name}
    return graph


def test_no_two_files_import_each_other_directly_or_in_a_circle() -> None:
    graph = module_graph()
    for importer, imported in KNOWN_BACKWARD_IMPORTS:
        graph[importer].discard(imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each is imported by the next.
        pytest.fail(" <- ".join(error.args[1]))
