"""What commands print where no terminal is: data that programs read, and nothing that is drawn."""

import ast
import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from docs.generate import commands
from server.cli.api import RemoteFailed
from server.cli.app import command_line
from server.cli.output import counting, print_report, print_table, size_of
from tests.server.cli.test_cli import DRAWN, on_terminal
from tests.server.conftest import triples
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running
from tests.test_architecture import modules

TEXT = "Cork Hall is a museum. It was established in skyward."
REASON = ("--reason", "no year")
CASES: dict[str, tuple[str, ...]] = {
    "ask": ("Which bridges are there?",),
    "validate": ("--data", "{other}"),
    "models": (),
    "prompts": (),
    "review list": ("--status", "any"),
    "review decide": ("reject", "{item}", *REASON),
    "review decisions": (),
    "gaps list": (),
    "proposals list": (),
    "jobs list": (),
    "key list": (),
    "config show": (),
}
"""A call of each command that prints a table or JSON."""


@dataclass(frozen=True)
class City:
    """A folder that a server holds, and a statement that waits in its review."""

    data: Path
    item: str

    def run(self, command: str, *arguments: str) -> Result:
        """Run a command whose output is no terminal; what it refuses, it says."""
        names = {"item": self.item, "other": str(self.data.parent)}
        filled = [part.format(**names) for part in arguments]
        done = CliRunner().invoke(command_line(), ["--data", str(self.data), *command.split(), *filled])
        assert done.exit_code in (0, 1), done.output
        assert done.exception is None or isinstance(done.exception, (SystemExit, RemoteFailed)), done.output
        return done


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Iterator[City]:
    data = tmp_path_factory.mktemp("output") / "data"
    reply = triples(("Cork Hall", "is a", "museum"), ("Cork Hall", "established", "skyward"))
    with running(StandIn(answer=reply)) as model, RunningServer(data, model_url=model.url):
        waits = City(data, "")
        waits.run("extract", TEXT)
        waits.run("ask", "When was Cork Hall established?")
        yield City(data, json.loads(waits.run("review list").stdout)["items"][0]["id"])


def test_every_command_that_prints_a_table_is_tried():
    printing = {
        path.removeprefix("urbankg ")
        for path, command in commands()
        if any(parameter.name == "as_json" for parameter in command.params)
    }
    assert printing == set(CASES)


@pytest.mark.parametrize("command", CASES)
def test_a_pipe_gets_json_or_rows_with_tabs(city: City, command: str):
    piped = city.run(command, *CASES[command])
    json.loads(piped.stdout)
    assert DRAWN.search(piped.output) is None
    rows = city.run(command, "--no-json", *CASES[command])
    assert DRAWN.search(rows.output) is None
    if "list" in command:
        widths = {len(row) for row in csv.reader(rows.stdout.splitlines(), "excel-tab")}
        assert len(widths) == 1, rows.stdout


def test_measurements_are_lines_of_json_and_tables_on_a_terminal(tmp_path: Path):
    graph, questions = tmp_path / "graph.ttl", tmp_path / "questions.jsonl"
    graph.write_text("@prefix u: <https://w3id.org/urbankg/urban#> . <urn:a> a u:Museum .")
    questions.write_text(json.dumps({"id": "1", "question": "How old is the sea?", "gap": True}) + "\n")
    command = ("evaluate", "questions", "--graph", str(graph), "--questions", str(questions))
    done = CliRunner().invoke(command_line(), command)
    assert done.exit_code == 0, done.output
    scores, categories = map(json.loads, done.stdout.splitlines())
    assert scores["table"] == "questions.jsonl"
    assert {"measure": "unanswerable refused", "value": "1/1"} in scores["rows"]
    assert categories["rows"][0]["refused"] == "1"
    assert DRAWN.search(done.output) is None
    assert "\u250f" in on_terminal(*command)


def test_cells_of_any_text_are_read_back(capsys: pytest.CaptureFixture[str]):
    rows = [['a "b"\tc', "d\ne"], ["[red]", ""]]
    print_table(("one", "two"), rows)
    print_report("of all", ("one", "two"), rows)
    *table, report = capsys.readouterr().out.splitlines(keepends=True)
    assert list(csv.reader(table, "excel-tab")) == [["one", "two"], *rows]
    assert json.loads(report) == {
        "table": "of all",
        "rows": [dict(zip(("one", "two"), row, strict=True)) for row in rows],
    }


def test_no_progress_is_written_where_no_terminal_is(capsys: pytest.CaptureFixture[str]):
    with counting("features") as progress:
        progress.advance(progress.add_task("", total=2))
    assert capsys.readouterr() == ("", "")


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path: Path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/one").write_bytes(b"12345")
    (tmp_path / "a/b/two").write_bytes(b"123")
    assert [size_of(tmp_path / name) for name in ("a", "a/one", "none")] == [8, 5, 0]


def test_only_the_modules_for_output_draw():
    assert {name for name, path in modules().items() if _draws(path)} == {"server.cli.output"}


def _draws(path: Path) -> bool:
    """Whether a file makes tables, consoles for data, or bars."""
    text = path.read_text(encoding="utf-8")
    if "rich." not in text:
        return False
    tree = ast.parse(text)
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rich.")
        for alias in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Table" | "Progress" as made)) if made in imported:
                return True
            case ast.Call(func=ast.Name(id="Console"), keywords=options) if "Console" in imported:
                if all(option.arg != "stderr" for option in options):
                    return True
    return False
