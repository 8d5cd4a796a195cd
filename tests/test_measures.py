"""The measures of the layout: small folders and files, no facades, few server starts, no idle waiting.

A limit is what the code keeps today. Lower it when the code gets below it (docs/decisions/0080-measures.md).
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from geo.measure.units import UNITS
from sparql.ask.plan.words import _UNITS
from tests.test_architecture import MAY_IMPORT, ROOT, imported_names, module_graph, modules

MODULES_PER_FOLDER = 16
LINES_PER_FILE = 400
LONG_FILES = {
    "geo/kernel/border_kernel.py": "numba inlines within one file",
    "server/runtime/settings.py": "one table of settings, which the documents are made of",
    "sparql/ask/compile/patterns.py": "sets and quantities that compile into each other",
    "sparql/ask/plan/nodes.py": "all kinds of nodes of one tree",
}
FOLDERS_THAT_IMPORT_EACH_OTHER = {
    "geo": 2,
    "ontology": 1,
    "extractors": 8,
    "sparql": 1,
    "shapes": 4,
    "curation": 0,
    "server": 21,
}
"""Pairs of folders, imports for types included; a package's own modules count as a folder."""
STARTS_PER_FILE = 5
SLEEPS = 32


def folders() -> Iterator[Path]:
    """The product's packages."""
    for package in MAY_IMPORT:
        yield from (path.parent for path in (ROOT / package).rglob("__init__.py"))


def product_files() -> Iterator[Path]:
    for package in MAY_IMPORT:
        yield from (ROOT / package).rglob("*.py")


def calls(path: Path, *names: str) -> list[ast.Call]:
    """The calls of functions with one of these names."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in names:
                found.append(node)
    return found


def test_a_folder_holds_few_modules() -> None:
    counts = {folder: len(list(folder.glob("*.py"))) - 1 for folder in folders()}
    assert {str(f.relative_to(ROOT)): n for f, n in counts.items() if n > MODULES_PER_FOLDER} == {}


def test_a_package_says_what_it_holds() -> None:
    silent = [
        str(folder.relative_to(ROOT))
        for folder in folders()
        if not ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_a_file_is_short_unless_it_is_named_with_its_reason() -> None:
    long = {
        str(path.relative_to(ROOT))
        for path in product_files()
        if len(path.read_text(encoding="utf-8").splitlines()) > LINES_PER_FILE
    }
    assert long == LONG_FILES.keys()


def test_no_module_is_a_facade_that_imports_what_is_asked_for() -> None:
    facades = [
        str(path.relative_to(ROOT))
        for path in product_files()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
    ]
    assert facades == []


def test_nothing_at_run_time_imports_research() -> None:
    """Only the commands of research do, which are in a folder of their own."""
    guilty = [
        str(path.relative_to(ROOT))
        for path in product_files()
        if "research" not in path.parts
        and any(name.startswith("extractors.research") for name in imported_names(path))
    ]
    assert guilty == []


def folder_of(module: str, path: Path) -> str:
    """The sub-package that a module is in."""
    parts = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    return ".".join(parts[:2])


def test_few_folders_import_each_other() -> None:
    known = modules()
    edges = {
        (folder_of(module, known[module]), folder_of(other, known[other]))
        for module, others in module_graph().items()
        for other in others
    }
    mutual = sorted((one, other) for one, other in edges if one < other and (other, one) in edges)
    for package, most in FOLDERS_THAT_IMPORT_EACH_OTHER.items():
        found = [pair for pair in mutual if pair[0].partition(".")[0] == package]
        assert len(found) <= most, found


def test_the_context_imports_nothing_of_the_server_at_run_time() -> None:
    """It is the bottom of the server: what uses it would close a circle."""
    tree = ast.parse((ROOT / "server/runtime/context.py").read_text(encoding="utf-8"))
    at_run_time = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    packages = [name for name in at_run_time if name and name.partition(".")[0] in MAY_IMPORT]
    assert packages == ["server.runtime.lazy"]


def classes_with(method: str, *, below: str = "") -> set[str]:
    """The classes, other than Protocols, that define this method, in all packages or in one folder."""
    found = set()
    for path in product_files():
        if str(path.relative_to(ROOT)).startswith(below):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
                    names = [
                        one.name
                        for one in node.body
                        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
                    ]
                    found |= {node.name} if method in names else set()
    return found


def test_a_select_has_four_ways_to_its_answer_and_an_insert_data_two() -> None:
    """A SELECT: lookup, index answer, worker, remote store. INSERT DATA: short path, application."""
    assert classes_with("__call__", below="server/http/short") == {"LookupLane", "UpdateLane"}
    assert classes_with("open_query") == {"WorkerPool", "RemoteQueryService"}
    answering = "sparql.rewriting.spatial.index_answers"
    assert [name for name, others in module_graph().items() if answering in others] == [
        "sparql.rewriting.rewriter"
    ]


def test_a_test_file_starts_few_servers() -> None:
    """As processes; tests that only read share a server of their module."""
    counts = {path.name: len(calls(path, "RunningServer")) for path in (ROOT / "tests").rglob("test_*.py")}
    assert {name: count for name, count in counts.items() if count > STARTS_PER_FILE} == {}


def test_tests_wait_for_what_happens_and_not_for_time_to_pass() -> None:
    sleeps = [
        (path.name, call.lineno)
        for path in (ROOT / "tests").rglob("*.py")
        for call in calls(path, "sleep")
        if not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
    ]
    assert len(sleeps) <= SLEEPS, sleeps


def test_the_size_of_a_unit_is_in_one_table() -> None:
    """Words and symbols name units of it."""
    sizes = {str(one.factor) for one in UNITS.values() if "." in (size := str(one.factor)) and len(size) > 5}
    guilty = [
        (str(path.relative_to(ROOT)), size)
        for path in product_files()
        for size in sizes & set(re.findall(r"[\d.]+", path.read_text(encoding="utf-8")))
        if path.name != "units.py"
    ]
    assert guilty == []
    assert set(_UNITS) - {"NUM"} <= UNITS.keys()
