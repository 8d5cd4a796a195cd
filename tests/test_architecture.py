"""Packages import in one direction only, and files never in a circle (docs/architecture.md)."""

import ast
from collections.abc import Iterator
from functools import cache
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
    "research": {"geo", "ontology", "extractors", "sparql", "shapes", "curation", "server"},
}
"""`research` is no part of the wheel: nothing of the product may import it."""


def packages_imported_by(path: Path) -> set[str]:
    """The packages that a file imports anywhere, also inside functions."""
    return {name.partition(".")[0] for name in imported_names(path)} & MAY_IMPORT.keys()


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_is_below_it(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        extra = packages_imported_by(path) - MAY_IMPORT[package] - {package}
        assert not extra, f"{path.relative_to(ROOT)} imports {', '.join(sorted(extra))}"


def test_no_iri_of_the_domain_is_in_code() -> None:
    for package in MAY_IMPORT:
        for path in (ROOT / package).rglob("*.py"):
            assert "w3id.org/urbankg/urban" not in path.read_text(encoding="utf-8"), path


def modules() -> dict[str, Path]:
    """The product's files by the names of their modules."""
    files = (path for package in MAY_IMPORT for path in (ROOT / package).rglob("*.py"))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
    }


@cache
def imported_names(path: Path) -> tuple[str, ...]:
    """What a file imports: at its top, for types only, or inside functions."""
    return tuple(_names_in(path))


def _names_in(path: Path) -> Iterator[str]:
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


@cache
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
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each is imported by the next.
        pytest.fail(" <- ".join(error.args[1]))


def test_no_two_packages_of_the_server_import_each_other() -> None:
    uses: dict[str, set[str]] = {}
    packages = {path.name for path in (ROOT / "server").iterdir() if path.is_dir()}
    for name, imported in module_graph().items():
        own = name.split(".")[1] if name.startswith("server.") else ""
        if own in packages:
            inside = {other.split(".")[1] for other in imported if other.startswith("server.")}
            uses.setdefault(own, set()).update((inside & packages) - {own})
    mutual = [(a, b) for a in uses for b in uses[a] if a < b and a in uses.get(b, ())]
    assert not mutual


def test_tests_import_nothing_from_benchmarks() -> None:
    """What both use is in tests/support; a test of a benchmark program is in tests/benchmarks."""
    for path in (ROOT / "tests").rglob("*.py"):
        if path.parent.name != "benchmarks":
            names = imported_names(path)
            assert not [name for name in names if name.partition(".")[0] == "benchmarks"], path
