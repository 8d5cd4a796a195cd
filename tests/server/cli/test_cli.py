"""The command line as a user types it: data on standard output, exit codes that mean something."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.server.conftest import COLUMBIA, triples
from tests.support.prepared_processes import urbankg
from tests.support.processes import cpu_seconds, family
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running
from tests.support.waiting import wait_until

TIME = re.compile("0:0[0-9]:[0-9]{2}")
"""How long something has been at work."""
DRAWN = re.compile("[\x1b\r\u2500-\u259f\u2800-\u28ff]")
"""Control sequences, lines of tables, bars and spinners."""
MINI = """@prefix ex: <http://example.org/> . ex:a ex:p "1" , "2" ."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cli")
    (root / "mini.ttl").write_text(MINI)
    done = urbankg("load", str(root / "mini.ttl"), "--data", str(root / "data"))
    assert done.returncode == 0, done.stderr
    return root / "data"


def test_a_query_prints_its_answer_and_nothing_else(folder: Path):
    query = "SELECT ?o WHERE { <http://example.org/a> <http://example.org/p> ?o } ORDER BY ?o"
    done = urbankg("query", query, "--data", str(folder), "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["o", "1", "2"]


def on_terminal(*arguments: str, errors: bool = False) -> str:
    """What a command prints where its standard output is a terminal, or its standard error."""
    ours, theirs = os.openpty()
    # A process of its own: what is imported looks at the streams.
    command = [sys.executable, "-m", "server", *arguments]
    out, err = (subprocess.DEVNULL, theirs) if errors else (theirs, subprocess.DEVNULL)
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdout=out, stderr=err, env=environment) as process:
        os.close(theirs)
        written = b""
        # A terminal whose other side is closed cannot be read.
        with suppress(OSError):
            while piece := os.read(ours, 65536):
                written += piece
        assert process.wait() == 0
    os.close(ours)
    return written.decode()


def test_a_terminal_gets_tables_and_a_pipe_json(folder: Path):
    query = ("query", "SELECT ?o WHERE { ?s <http://example.org/p> ?o } ORDER BY ?o", "--data", str(folder))
    bindings = json.loads(urbankg(*query).stdout)["results"]["bindings"]
    assert [row["o"]["value"] for row in bindings] == ["1", "2"]
    assert "│ 1 │" in on_terminal(*query)
    settings = ("config", "show", "--data", str(folder))
    assert json.loads(urbankg(*settings).stdout)["data"]["value"] == str(folder)
    assert f"data\t{folder}\t" in urbankg(*settings, "--no-json").stdout
    shown = on_terminal(*settings)
    assert "┏" in shown
    assert on_terminal(*settings, "--json").startswith("{")


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("backup", "{tmp}/kept"), "backing up"),
        (("dump", "{tmp}/all.nq"), "writing"),
        (("optimize",), "optimizing"),
        (("validate",), "validating"),
        (("load", "--bulk", "{mini}"), "loading"),
    ],
)
def test_a_long_command_says_on_a_terminal_what_it_does(
    command: tuple[str, ...], what: str, folder: Path, tmp_path: Path
):
    arguments = [part.format(tmp=tmp_path, mini=folder.parent / "mini.ttl") for part in command]
    shown = on_terminal(*arguments, "--data", str(folder), errors=True)
    assert what in shown
    assert TIME.search(shown)
    elsewhere = [part + "2" if part.startswith(str(tmp_path)) else part for part in arguments]
    written = urbankg(*elsewhere, "--data", str(folder)).stderr
    assert TIME.search(written) is None
    assert DRAWN.search(written) is None


def test_the_size_of_what_is_restored_is_shown_on_a_terminal(folder: Path, tmp_path: Path):
    kept = tmp_path / "kept"
    assert urbankg("backup", str(kept), "--data", str(folder)).returncode == 0
    shown = on_terminal("restore", str(kept), "--data", str(tmp_path / "one"), errors=True)
    assert re.search(r"0:0.* [0-9.]+ MB.*restoring", shown)
    written = urbankg("restore", str(kept), "--data", str(tmp_path / "two")).stderr
    assert written.splitlines() == [written.strip()]
    assert "as backed up at" in written


@pytest.mark.parametrize(
    "command",
    [("query", "ASK {}"), ("jobs", "list"), ("key", "list"), ("review", "list"), ("validate",), ("dump",)],
    ids=" ".join,
)
def test_a_folder_that_is_not_there_is_no_new_graph(command: tuple[str, ...], tmp_path: Path):
    done = urbankg(*command, "--data", str(tmp_path / "typo"))
    assert done.returncode == 2
    assert str(tmp_path / "typo") in done.stderr
    assert not (tmp_path / "typo").exists()


def test_an_explanation_is_printed_instead_of_the_answer(folder: Path):
    query = "SELECT ?o WHERE { <http://example.org/a> <http://example.org/p> ?o FILTER(<http://e/no>(?o)) }"
    done = urbankg("query", query, "--explain", "--data", str(folder))
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert reported["query"] == query
    assert reported["warnings"] == ["The function <http://e/no> is not known here: its calls are errors."]


def test_a_query_that_does_not_parse_is_reported_with_its_place(folder: Path):
    done = urbankg("query", "SELECT * WHERE { ?s ?p }", "--data", str(folder))
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "1:" in done.stderr or "line 1" in done.stderr


def test_the_whole_graph_is_validated(folder: Path):
    done = urbankg("validate", "--data", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of them violations" in done.stderr


def test_a_text_is_extracted_and_a_command_on_a_served_folder_talks_to_the_server(tmp_path: Path):
    reply = triples(
        ("Columbia University", "is a", "university"), ("Columbia University", "established", "1754")
    )
    with running(StandIn(answer=reply)) as model, RunningServer(tmp_path / "d", model_url=model.url):
        done = urbankg("extract", COLUMBIA, "--data", str(tmp_path / "d"))
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout)["accepted"]) == 3
        query = "SELECT (COUNT(*) AS ?n) WHERE { ?s <https://w3id.org/urbankg/urban#established> ?o }"
        asked = urbankg("query", query, "--data", str(tmp_path / "d"), "--format", "csv")
        assert asked.stdout.split() == ["n", "1"]


def test_settings_are_shown_with_their_origin():
    done = urbankg("config", "show", "--json", URBANKG_PORT="8123")
    shown = json.loads(done.stdout)
    assert shown["port"] == {"value": "8123", "origin": "environment URBANKG_PORT"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("query", "ASK {{}}", "--data", "{file}"), "file"),
        (("load", "{tmp}/none.ttl", "--data", "{tmp}/data"), "none.ttl"),
        (("load", "{tmp}/broken.ttl", "--data", "{tmp}/data"), "line 1"),
        (("serve", "--host", "0.0.0.0", "--data", "{tmp}/data"), "Refusing"),
        (("serve", "--ontology", "{tmp}/bad", "--data", "{tmp}/data"), "bad.ttl"),
        (("serve", "--shapes", "{tmp}/bad", "--data", "{tmp}/data"), "bad.ttl"),
        (("demo", "--data", "{tmp}"), "not empty"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line_and_exit_code_two(
    tmp_path: Path, arguments: tuple[str, ...], word: str
):
    (tmp_path / "file").write_text("x")
    (tmp_path / "broken.ttl").write_text("<a> <b")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "bad.ttl").write_text("this is not turtle")
    filled = [a.format(tmp=tmp_path, file=tmp_path / "file") for a in arguments]
    done = urbankg(*filled)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert word in done.stderr


def test_a_command_on_a_folder_with_keys_needs_none_and_a_server_asks_for_one(folder: Path, tmp_path: Path):
    data = tmp_path / "data"
    shutil.copytree(folder, data)
    made = urbankg("key", "create", "Ada", "--scope", "admin", "--data", str(data))
    assert made.returncode == 0, made.stderr
    job = urbankg("jobs", "add", str(_leaflet(tmp_path)), "--data", str(data))
    assert job.returncode == 0, job.stderr
    with RunningServer(data):
        refused = urbankg("jobs", "change", job.stdout.strip(), "pause", "--data", str(data))
        assert refused.returncode == 2
        assert "needs a key" in refused.stderr
        paused = urbankg(
            "jobs",
            "change",
            job.stdout.strip(),
            "pause",
            "--data",
            str(data),
            URBANKG_API_KEY=made.stdout.strip(),
        )
        assert paused.returncode == 0, paused.stderr


def _leaflet(folder: Path) -> Path:
    path = folder / "leaflet.txt"
    path.write_text("Larnford is a city.")
    return path


def test_a_list_that_the_api_refuses_is_reported_in_its_words(folder: Path):
    done = urbankg("review", "list", "--status", "lost", "--data", str(folder))
    assert done.returncode == 2
    assert "'open', 'accepted'" in done.stderr


def test_a_long_query_ends_with_the_command(folder: Path):
    unknown = " ".join(f"?s{number} ?p{number} ?o{number} ." for number in range(6))
    command = ["query", f"SELECT (COUNT(*) AS ?n) {{ {unknown} }}", "--data", str(folder)]
    with subprocess.Popen([sys.executable, "-m", "server", *command], stdout=subprocess.PIPE) as process:
        wait_until(lambda: any(cpu_seconds(pid) > 2 for pid in family(process.pid)[1:]))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert not process.stdout or process.stdout.read() == b""
    assert urbankg("query", "ASK {}", "--data", str(folder)).returncode == 0
