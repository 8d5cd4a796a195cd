"""The commands in the documents: each shell block is run, and each command between backticks exists."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer

from server.cli.app import command_line
from tests.support.documented import ROOT, Block, blocks, lines_of_commands, write_files
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = [page for page in PAGES if any(one.language == "sh" for one in blocks(page))]
WITH_EMBEDDED_MODEL = {"README.md", "start.md"}
ELSEWHERE = {
    "pip": ".ci/wheel",
    "/opt/urbankg/bin/pip": ".ci/image",
    "/opt/urbankg/bin/urbankg": ".ci/image",
    "urbankg serve": ".ci/wheel",
    "ogrinfo": "clients/tried/command_clients.py",
    "ogr2ogr": "clients/tried/command_clients.py",
    "make": "Makefile",
}
"""Commands that the tests of a block leave out, since they need minutes or programs: what runs them."""
OF_ANOTHER_MACHINE = ("useradd", "python3 -m venv /opt", "cp deploy/", "systemctl", "docker")
"""Commands that change a machine or need a container engine: `.ci/image` follows what they start."""
COMMAND = re.compile(r"`(?:urbankg|python -m research) ([^`]+)`")
OWN_ONTOLOGY = re.compile(r"^urbankg serve --data city (--ontology) (\w+) (--shapes) (\w+)", re.MULTILINE)
SAID = {"start.md": "Ashby Library", "README.md": "museums"}
"""What the output of a page's blocks holds."""
BOWNE, CLOCKS, TOWER = ("https://example.org/" + name for name in ("bowne-hall", "clock-museum", "tower"))
URBAN = "https://w3id.org/urbankg/urban#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def run_elsewhere(line: str) -> bool:
    return line.startswith((*ELSEWHERE, *OF_ANOTHER_MACHINE))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample city, to copy."""
    folder = tmp_path_factory.mktemp("sample") / "city"
    subprocess.run([sys.executable, "-m", "server", "load", "--sample", "--data", str(folder)], check=True)
    return folder


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for the PATH: this program under its name, and a curl that fails on an error."""
    folder = tmp_path / "programs"
    folder.mkdir()
    curl = shutil.which("curl")
    assert curl is not None
    fails = "--fail-with-body --silent --show-error --max-time 300"
    for name, command in (("urbankg", f"{sys.executable} -m server"), ("curl", f"{curl} {fails}")):
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The address of a model that finds nothing; none for pages whose texts the embedded model reads."""
    if request.getfixturevalue("page").name in WITH_EMBEDDED_MODEL:
        yield None
        return
    with running(StandIn(adapters=("my-adapter",))) as stand_in:
        yield stand_in.url


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_shell_blocks_of_a_page_run(
    page: Path, sample: Path, programs: Path, model: str | None, tmp_path: Path
):
    folder = tmp_path / "reader"
    folder.mkdir()
    write_files(page, folder)
    with ExitStack() as stack:
        url = None
        for block in blocks(page):
            text = "\n".join(_to_run(block))
            if block.language != "sh" or not text.strip():
                continue
            if url is None and ":8000" in text:
                data = folder / "city"
                own = OWN_ONTOLOGY.search(block.text)
                if own is None and not data.exists():
                    shutil.copytree(sample, data)
                flags = () if own is None else (own[1], str(folder / own[2]), own[3], str(folder / own[4]))
                url = stack.enter_context(RunningServer(data, *flags, model_url=model)).url
                if own is None:
                    _state_what_the_pages_speak_of(url)
            done = _run(text, folder, programs, url, model)
            assert done.returncode == 0, f"{block}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            assert SAID.get(page.name, "") in done.stdout


def _to_run(block: Block) -> Iterator[str]:
    left_out = {line for line in lines_of_commands(block.text) if run_elsewhere(line)}
    return (line for line in block.text.splitlines() if line not in left_out)


def _run(
    text: str, folder: Path, programs: Path, url: str | None, model: str | None
) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("URBANKG_")}
    environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    if model is not None:
        environment["URBANKG_MODEL_URL"] = model
    if url is not None:
        text = text.replace("http://127.0.0.1:8000", url).replace(
            "localhost:8000", url.removeprefix("http://")
        )
    text = text.replace("http://127.0.0.1:8080", model or "http://127.0.0.1:8080")
    return subprocess.run(
        ["sh", "-euc", text],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )


def _state_what_the_pages_speak_of(url: str) -> None:
    """Entities and items in review that the examples name."""

    def statement(subject: str, predicate: str, value: str, kind: str = "literal") -> dict[str, Any]:
        return {"subject": subject, "predicate": predicate, "object": {"type": kind, "value": value}}

    places = [(BOWNE, "Bowne Hall"), (CLOCKS, "Clock Museum"), (TOWER, "Old Tower")]
    places.append(("https://example.org/museum-of-clocks", "Museum of Clocks"))
    statements = [statement(iri, LABEL, name) for iri, name in places]
    statements += [statement(iri, TYPE, URBAN + "Museum", "uri") for iri, _ in places]
    statements += [statement(iri, URBAN + "height", f"{name}, tall") for iri, name in places[:3]]
    answer = httpx.post(f"{url}/candidates", json={"statements": statements, "source": "test"}, timeout=60)
    assert len(answer.json()["rejected"]) == 3, answer.text


def test_what_is_left_out_is_run_elsewhere():
    for command, place in ELSEWHERE.items():
        word = command.split()[0].rpartition("/")[2]
        assert re.search(rf"\b{word}\b", (ROOT / place).read_text(encoding="utf-8")), (command, place)


def test_every_make_target_that_a_page_names_is_there():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        name
        for page in PAGES
        for name in re.findall(r"^make ([\w-]+)|`make ([\w-]+)", page.read_text(), re.M)
    }
    assert {one or other for one, other in named} <= targets


@pytest.fixture(scope="module")
def options() -> dict[str, set[str]]:
    """The options of every command and group, by its words."""
    found: dict[str, set[str]] = {}
    pending = [("", typer.main.get_command(command_line()))]
    while pending:
        path, command = pending.pop()
        found[path] = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        pending += [
            (f"{path} {name}".strip(), child) for name, child in getattr(command, "commands", {}).items()
        ]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_between_backticks_exists(page: Path, options: dict[str, set[str]]):
    text = page.read_text(encoding="utf-8")
    shell = [line for one in blocks(page) if one.language == "sh" for line in lines_of_commands(one.text)]
    starts = (re.match(r"(?:\w+=\$\()?(?:urbankg|python -m research) (.*)", line) for line in shell)
    lines = [found[1] for found in starts if found]
    for line in [*COMMAND.findall(" ".join(text.split())), *lines]:
        words = re.sub(r"[\[\]|()]|\.\.\.", " ", line.split(" #")[0]).split()
        path = ""
        while words and (words[0].startswith("--") or f"{path} {words[0]}".strip() in options):
            word = words.pop(0)
            if word.startswith("--"):
                assert word in options[path] | {"--help"}, (line, word)
                words = words[1:] if word in {"--ontology", "--shapes", "--config"} else words
            else:
                path = f"{path} {word}".strip()
        assert path or not words, f"urbankg {line}: there is no such command"
        unknown = {word.split("=")[0] for word in words if word.startswith("--")} - options[path] - {"--help"}
        assert unknown == set(), f"urbankg {line}: {unknown}"
