"""`urbankg held`, on a folder and through the server that holds it."""

import asyncio
import json
from pathlib import Path

import httpx
from typer.testing import CliRunner, Result

from server.cli.app import command_line
from server.jobs.worker import Fate, fate_after
from sparql.model.errors import TooMuchDepends
from tests.server.intake.held.test_held_judge import (
    candidates,
    client_of,
    codes,
    held,
    opened,
    paused,
    update,
    written,
)
from tests.support.running_server import RunningServer


async def left_waiting(folder: Path, *values: str) -> list[str]:
    """A folder with a batch for each value, which nobody has judged; their identifiers."""
    async with opened(folder) as services, client_of(services) as client:
        await update(client, codes(15))
        await paused(services)
        return [(await held(client, value)).removeprefix("/held/") for value in values]


def on_command_line(folder: Path, *arguments: str) -> Result:
    ontology, shapes = written(folder)
    config = folder / "urbankg.toml"
    named = f"ontology = {json.dumps(str(ontology))}\nshapes = {json.dumps(str(shapes))}\n"
    config.write_text("fan_in = 10\nreaders = 1\n" + named)
    flags = ("--data", str(folder / "data"), "--config", str(config))
    return CliRunner().invoke(command_line(), ["held", *arguments, *flags])


async def test_what_waits_is_listed_shown_taken_back_and_judged(tmp_path: Path):
    first, second, third = await left_waiting(tmp_path, "nobody", "c3", "somebody")

    def run(*arguments: str) -> Result:
        return on_command_line(tmp_path, *arguments)

    listed = await asyncio.to_thread(run, "list", "--json")
    assert listed.exit_code == 0, listed.output
    assert [one["id"] for one in json.loads(listed.stdout)["batches"]] == [first, second, third]
    shown = await asyncio.to_thread(run, "show", first)
    assert json.loads(shown.stdout)["status"] == "waiting"
    withdrawn = await asyncio.to_thread(run, "withdraw", third)
    assert withdrawn.stdout.split() == [third, "withdrawn"]
    judged = await asyncio.to_thread(run, "judge")
    assert judged.exit_code == 1
    lines = judged.stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [[first, "committed"], [second, "refused"]]
    assert "1 accepted, 0 refused" in lines[0]
    again = await asyncio.to_thread(run, "judge")
    assert (again.exit_code, again.stdout) == (0, "")
    ended = await asyncio.to_thread(run, "list", "--status", "any")
    assert all(state in ended.stdout for state in ("committed", "refused", "withdrawn"))


async def test_what_is_not_there_or_settled_is_reported(tmp_path: Path):
    (only,) = await left_waiting(tmp_path, "nobody")

    def run(*arguments: str) -> Result:
        return on_command_line(tmp_path, *arguments)

    unheard = await asyncio.to_thread(run, "show", "unheard-of")
    assert unheard.exit_code != 0
    assert "There is no held batch" in str(unheard.exception)
    await asyncio.to_thread(run, "withdraw", only)
    settled = await asyncio.to_thread(run, "withdraw", only)
    assert "withdrawn already" in str(settled.exception)
    wrong = await asyncio.to_thread(run, "list", "--status", "lost")
    assert wrong.exit_code == 2
    assert "There is no status 'lost'" in wrong.stderr


def test_through_a_server_one_waits_until_it_has_judged(tmp_path: Path):
    ontology, shapes = written(tmp_path)
    config = tmp_path / "server.toml"
    config.write_text("fan_in = 10\nreaders = 1\n")
    flags = ("--ontology", str(ontology), "--shapes", str(shapes), "--config", str(config))
    with RunningServer(tmp_path / "data", *flags) as server:
        headers = {"content-type": "application/sparql-update"}
        text = "PREFIX ex: <http://example.org/> " + codes(15)
        assert httpx.post(server.url + "/update", content=text, headers=headers, timeout=300).is_success
        answer = httpx.post(server.url + "/candidates", json=candidates("nobody"), timeout=300)
        assert answer.status_code == 202
        assert on_command_line(tmp_path, "judge").exit_code == 0
        shown = on_command_line(tmp_path, "show", answer.json()["id"])
        assert json.loads(shown.stdout)["status"] == "committed"
        late = on_command_line(tmp_path, "withdraw", answer.json()["id"])
        assert "committed already" in str(late.exception)


def test_a_document_of_a_job_on_which_too_much_depends_fails_and_keeps_no_other_waiting():
    assert fate_after(TooMuchDepends("a statement", ["a shape"], 10)) is Fate.FAIL
