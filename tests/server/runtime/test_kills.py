"""kill -9 in the middle of a load, an edit of rules or a backup: a start finds all of it or nothing of it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import shapely

from tests.support.drawn_features import FOUNTAIN, MAPPING, PARK, ROWS, write_parquet
from tests.support.prepared_processes import urbankg
from tests.support.running_server import RunningServer
from tests.support.workshop import CITY, RULES, SHORT, folders

KILLED = """
import os, signal, sys
from importlib import import_module

module, name, when, *arguments = sys.argv[1:]
owner, attribute = import_module(module), name
while "." in attribute:
    first, _, attribute = attribute.partition(".")
    owner = getattr(owner, first)
called, calls = getattr(owner, attribute), 0

def killed(*arguments, **named):
    global calls
    calls += 1
    if calls == int(when[1:]) and when[0] == "<":
        os.kill(os.getpid(), signal.SIGKILL)
    result = called(*arguments, **named)
    if calls == int(when[1:]):
        os.kill(os.getpid(), signal.SIGKILL)
    return result

setattr(owner, attribute, killed)
if "--mapping" in arguments:
    import server.data.feature_loading
    server.data.feature_loading.BATCH = 1
sys.argv = ["urbankg", *arguments]
from server.cli.entry import main
main()
"""
"""`urbankg` that is killed before ("<2") or after (">2") the second call of a function."""

STORE = "sparql.storage.embedded_store"
EX = "http://example.org/"
ID = "https://w3id.org/urbankg/id/"
Point = tuple[str, str, str]
SELECT = (
    f"SELECT ?s ?p ?o {{ ?s ?p ?o FILTER(STRSTARTS(STR(?s), '{EX}n') || STRSTARTS(STR(?s), '{ID}')) }} "
    "ORDER BY ?s ?p ?o"
)


class Workshop:
    """A data folder with small rules, and the commands on it."""

    def __init__(self, root: Path) -> None:
        self.root, self.data = root, root / "data"
        self.ontology, self.shapes = folders(root)
        settings = root / "settings.toml"
        settings.write_text(f'ontology = "{self.ontology}"\nshapes = "{self.shapes}"\nreaders = 1\n')
        self.flags = ("--config", str(settings))

    def run(self, *arguments: str | Path) -> str:
        """A command to its end."""
        done = urbankg(*self._whole(arguments))
        assert done.returncode == 0, done.stderr
        return done.stdout

    def killed(self, point: Point, *arguments: str | Path) -> None:
        """A command that is killed at a point of its work."""
        command = [sys.executable, "-c", KILLED, *point, *self._whole(arguments)]
        done = subprocess.run(command, check=False, timeout=120, capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL, done.stderr

    def serve(self, point: Point | None = None) -> RunningServer:
        program = () if point is None else ("-c", KILLED, *point)
        return RunningServer(self.data, *self.flags, program=program)

    def graph(self) -> str:
        """The statements of the loads, relations included, as a server that starts now answers them."""
        with self.serve() as server:
            assert httpx.get(server.url + "/readyz", timeout=60).is_success
            headers = {"accept": "text/csv"}
            return httpx.get(
                server.url + "/sparql", params={"query": SELECT}, headers=headers, timeout=60
            ).text

    def _whole(self, arguments: tuple[str | Path, ...]) -> list[str]:
        return [*map(str, arguments), "--data", str(self.data), *self.flags]


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def lines(count: int) -> Iterator[str]:
    """N-Triples of squares, every second of which lies in the one before it."""
    for number in range(count):
        size, node = 3 - number % 2, f"{EX}n{number}"
        square = shapely.box(number // 2 * 10, 0, number // 2 * 10 + size, size)
        yield f'<{node}> <{EX}name> "Square {number}" .\n'
        yield f"<{node}> <http://www.opengis.net/ont/geosparql#hasGeometry> <{node}/g> .\n"
        yield (
            f'<{node}/g> <http://www.opengis.net/ont/geosparql#asWKT> "{square.wkt}"'
            "^^<http://www.opengis.net/ont/geosparql#wktLiteral> .\n"
        )


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file of them, and the graph of a load that nothing ends."""
    whole = Workshop(tmp_path_factory.mktemp("whole"))
    file = whole.root / "squares.nt"
    file.write_text("".join(lines(16)))
    whole.run("load", "--bulk", file)
    graph = whole.graph()
    assert graph.count("rcc8ntpp") + graph.count("rcc8tpp") >= 8
    return file, graph


@pytest.mark.parametrize("point", [
    (STORE, "EmbeddedStore.begin_bulk", ">1"),
    (STORE, "EmbeddedStore.bulk_read", ">1"),
    (STORE, "EmbeddedStore.bulk_add", "<1"),
    (STORE, "EmbeddedStore.bulk_add", ">1"),
    (STORE, "EmbeddedStore.end_bulk", ">1"),
])  # fmt: skip
def test_of_a_bulk_load_there_is_all_or_nothing_with_its_relations(
    workshop: Workshop, squares: tuple[Path, str], point: Point
) -> None:
    file, whole = squares
    workshop.killed(point, "load", "--bulk", file)
    found = workshop.graph()
    assert found == ("s,p,o\r\n" if point[1].endswith("begin_bulk") else whole)
    workshop.run("load", "--bulk", file)
    assert workshop.graph() == whole


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "map.toml"
    path.write_text(MAPPING, encoding="utf-8")
    return path


MOVED = [(shapely.box(-73.0, 40.0, -72.9, 40.1), ROWS[0][1]), (shapely.Point(-72.95, 40.05), ROWS[1][1])]


@pytest.mark.parametrize(("how", "point"), [
    ((), (STORE, "EmbeddedStore.commit", "<2")),
    (("--partial",), (STORE, "EmbeddedStore.commit", "<2")),
    (("--bulk",), (STORE, "EmbeddedStore.bulk_add", ">1")),
    (("--bulk",), (STORE, "EmbeddedStore.commit", ">2")),
    (("--bulk",), (STORE, "EmbeddedStore.end_bulk", "<1")),
    (("--bulk",), (STORE, "EmbeddedStore.end_bulk", ">1")),
])  # fmt: skip
def test_no_feature_is_in_two_places_after_a_load_that_was_killed(
    workshop: Workshop, mapping: Path, how: tuple[str, ...], point: Point
) -> None:
    old = write_parquet(workshop.root / "old.parquet", [(PARK, ROWS[0][1]), (FOUNTAIN, ROWS[1][1])])
    new = write_parquet(workshop.root / "new.parquet", MOVED)
    workshop.run("load", old, "--mapping", mapping)
    before = workshop.graph()
    workshop.killed(point, "load", new, "--mapping", mapping, *how)
    found = workshop.graph()
    for node in ("park-1/geometry", "fountain-2/geometry"):
        assert sum(f"{ID}{node}," in line and "asWKT" in line for line in found.splitlines()) == 1, found
    workshop.run("load", new, "--mapping", mapping, *how)
    after = workshop.graph()
    assert after != before
    if how == ("--bulk",):
        assert found in (before, after)


NAMES = ("ontology/city.ttl", "shapes/rules.ttl", "shapes/more.ttl")
SQUARE = ':Square a owl:Class ; rdfs:label "square"@en ; skos:definition "Open." .\n'
MORE = RULES.partition("s:Named")[0] + "s:Squares sh:targetClass :Square ; sh:path :name ; sh:maxCount 1 .\n"
EDITED = {"ontology/city.ttl": CITY + SQUARE, "shapes/rules.ttl": RULES + SHORT, "shapes/more.ttl": MORE}


@pytest.mark.parametrize("point", [
    ("server.rules.rule_folders", "_write", "<1"),
    ("server.rules.rule_folders", "_write", ">2"),
    ("server.rules.rule_folders", "write_all", ">1"),
    ("sparql.writing.derivation", "OntologyGraph.replace", ">2"),
    ("server.rules.rule_folders", "RuleHistory.keep", "<2"),
])  # fmt: skip
def test_all_files_of_an_edit_are_new_or_all_are_old(workshop: Workshop, point: Point) -> None:
    def contents() -> list[str | None]:
        paths = [workshop.root / name for name in NAMES]
        return [path.read_text() if path.exists() else None for path in paths]

    old = contents()
    server = workshop.serve(point)
    message = {"ontology": {"city.ttl": EDITED[NAMES[0]]}}
    message["shapes"] = {name.partition("/")[2]: EDITED[name] for name in NAMES[1:]}
    with pytest.raises(httpx.HTTPError):
        httpx.post(server.url + "/rules", json=message, timeout=60).raise_for_status()
    assert server.process.wait(30) == -signal.SIGKILL
    with workshop.serve() as again:
        assert contents() in (old, [EDITED[name] for name in NAMES])
        assert httpx.get(again.url + "/rules", timeout=60).json()["problem"] is None
        for name, content in zip(NAMES, contents(), strict=True):
            kind, _, file = name.partition("/")
            path = "ontologies" if kind == "ontology" else kind
            answer = httpx.get(f"{again.url}/{path}/{file}", headers={"accept": "text/turtle"}, timeout=60)
            assert (answer.text if answer.is_success else None) == content
        query = "ASK { <http://example.org/city#Square> ?p ?o }"
        asked = httpx.get(again.url + "/sparql", params={"query": query}, timeout=60).json()
        assert asked["boolean"] is (contents() != old)
        assert httpx.post(again.url + "/rules", json=message, timeout=60).is_success
    assert contents() == [EDITED[name] for name in NAMES]


BACKUP = "sparql.storage.backup"


@pytest.mark.parametrize("point", [
    (BACKUP, "_copy_out", ">1"), (BACKUP, "_sync_tree", "<1"), (BACKUP, "_copy_sqlite", "<1"),
])  # fmt: skip
def test_half_a_backup_is_no_backup_and_leaves_the_last_one(
    workshop: Workshop, squares: tuple[Path, str], point: Point
) -> None:
    file, whole = squares
    workshop.run("load", "--bulk", file)
    good, half = workshop.root / "good", workshop.root / "half"
    with workshop.serve() as server:
        assert httpx.post(server.url + "/backup", json={"folder": str(good)}, timeout=60).is_success
    server = workshop.serve(point)
    with pytest.raises(httpx.HTTPError):
        httpx.post(server.url + "/backup", json={"folder": str(half)}, timeout=60).raise_for_status()
    assert server.process.wait(30) == -signal.SIGKILL
    assert not half.exists()
    partial = half.with_name("half.partial")
    assert partial.is_dir()
    refused = urbankg("restore", str(partial), "--data", str(workshop.root / "again"))
    assert refused.returncode == 2
    assert "not a complete backup" in refused.stderr
    assert workshop.graph() == whole
    workshop.run("backup", half)
    assert not partial.exists()
    for backup in (good, half):
        restored = Workshop(workshop.root)
        restored.data = workshop.root / f"from {backup.name}"
        restored.run("restore", backup)
        assert restored.graph() == whole
