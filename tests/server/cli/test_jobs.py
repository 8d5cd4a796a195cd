"""`urbankg jobs` as a user calls it: on a folder, through a server, on a cluster."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from server.cli.app import command_line
from server.errors import ServerError
from shapes.errors import ShapesError
from tests.server.jobs.conftest import lines
from tests.server.jobs.test_restarts import graph_of
from tests.support.recorded.frames import texts
from tests.support.recorded.server import RecordedServer, serving
from tests.support.running_server import RunningServer
from tests.support.waiting import wait_until

PATIENCE_S = 300


def call(data: Path, *arguments: str, code: int = 0) -> str:
    """Run a command on a folder, made where it is not there; what it prints."""
    data.mkdir(exist_ok=True)
    result = CliRunner().invoke(command_line(), ["jobs", arguments[0], "--data", str(data), *arguments[1:]])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout


def command(data: Path, *arguments: str) -> list[str]:
    data.mkdir(exist_ok=True)
    return [sys.executable, "-m", "server", "jobs", arguments[0], "--data", str(data), *arguments[1:]]


@pytest.fixture
def leaflets(tmp_path: Path) -> Path:
    path = tmp_path / "leaflets.jsonl"
    path.write_bytes(lines("Larnford is a city.", "Brinwick is a city.", "Larnford is a city."))
    return path


def test_jobs_are_made_and_changed_without_a_server(tmp_path: Path, leaflets: Path):
    data = tmp_path / "data"
    job = call(data, "add", str(leaflets), "--source", "box").strip()
    shown = json.loads(call(data, "show", job, "--state", "pending"))
    assert (shown["name"], shown["state"], shown["total"]) == ("leaflets.jsonl", "running", 3)
    assert [(one["position"], one["source"]) for one in shown["listed"]] == [(1, "box"), (2, "box")]
    call(data, "change", job, "pause")
    assert json.loads(call(data, "list", "--json"))["jobs"][0]["state"] == "paused"
    assert job in call(data, "list")
    call(data, "change", job, "resume")
    call(data, "change", job, "cancel")
    call(data, "show", job, "--watch", code=1)
    call(data, "change", job, "forget")
    assert json.loads(call(data, "list", "--json"))["total"] == 0


def test_what_cannot_be_done_is_reported(tmp_path: Path, leaflets: Path):
    data = tmp_path / "data"
    data.mkdir()
    for arguments, word in (
        (["add", str(tmp_path / "x.pdf")], "unknown format"),
        (["add", str(tmp_path / "none.txt")], "cannot be read"),
        (["change", "none", "pause"], "no job"),
    ):
        result = CliRunner().invoke(
            command_line(), ["jobs", arguments[0], "--data", str(data), *arguments[1:]]
        )
        assert isinstance(result.exception, ServerError)
        assert word in str(result.exception)
    job = call(data, "add", str(leaflets)).strip()
    result = CliRunner().invoke(command_line(), ["jobs", "change", "--data", str(data), job, "retry"])
    assert "failed or was rejected" in str(result.exception)


def test_jobs_of_a_folder_are_worked_off_here(tmp_path: Path, leaflets: Path):
    data = tmp_path / "data"
    with serving(RecordedServer()) as model:
        before = call(data, "add", str(leaflets)).strip()
        (tmp_path / "b.txt").write_text("Gresmere is a city.")
        job = call(data, "run", str(tmp_path / "b.txt"), "--model-url", model.url).strip()
        model.failing = "Elydale"
        (tmp_path / "c.csv").write_text("id,text\nx,Elydale is a city.\n")
        failed = call(data, "run", str(tmp_path / "c.csv"), "--model-url", model.url, code=1).strip()
    assert json.loads(call(data, "show", before))["documents"]["committed"] == 2
    assert json.loads(call(data, "show", job))["documents"]["committed"] == 1
    listed = json.loads(call(data, "show", failed, "--state", "failed"))["listed"]
    assert [one["name"] for one in listed] == ["x"]
    assert "JSON" in listed[0]["error"]


def test_jobs_are_not_worked_off_by_shapes_that_cannot_be_used(tmp_path: Path, leaflets: Path):
    (tmp_path / "shapes").mkdir()
    (tmp_path / "shapes" / "broken.ttl").write_text("this is no Turtle")
    data = tmp_path / "data"
    job = call(data, "add", str(leaflets)).strip()
    result = CliRunner().invoke(
        command_line(), ["--shapes", str(tmp_path / "shapes"), "jobs", "run", "--data", str(data)]
    )
    assert isinstance(result.exception, ShapesError)
    assert json.loads(call(data, "show", job))["state"] == "running"


@pytest.mark.slow
def test_the_embedded_model_works_a_job_off(tmp_path: Path):
    file = tmp_path / "two.jsonl"
    file.write_bytes(lines("The Brinwick Library is a library in Larnford.", "Larnford is a city."))
    job = call(tmp_path / "data", "run", str(file)).strip()
    found = json.loads(call(tmp_path / "data", "show", job, "--state", "committed"))
    assert found["documents"]["committed"] == 2
    assert all(one["accepted"] for one in found["listed"])


@pytest.mark.slow
def test_commands_on_a_folder_that_a_server_holds_talk_to_it_even_over_its_end(tmp_path: Path):
    data, file = tmp_path / "data", tmp_path / "many.jsonl"
    file.write_bytes(lines(*texts(30)))
    with serving(RecordedServer(delay_s=0.2, at_once=2)) as model:
        server = RunningServer(data, model_url=model.url)
        job = call(data, "add", str(file), "--paused").strip()
        assert json.loads(call(data, "show", job))["state"] == "paused"
        watching = subprocess.Popen(command(data, "show", job, "--watch"), stderr=subprocess.PIPE, text=True)
        assert watching.stderr is not None
        assert "0 of 30" in watching.stderr.readline()  # it talks to the server
        call(data, "change", job, "resume")
        wait_until(
            lambda: httpx.get(f"{server.url}/jobs/{job}", timeout=120).json()["documents"]["committed"] >= 5
        )
        server.kill()
        with RunningServer(data, model_url=model.url):
            reported = watching.communicate(timeout=PATIENCE_S)[1]
            assert watching.returncode == 0, reported
            assert "30 of 30: 30 committed" in reported
            result = CliRunner().invoke(command_line(), ["jobs", "run", "--data", str(data)])
            assert "works on its jobs" in str(result.exception)
            call(data, "change", job, "forget")


@pytest.mark.slow
def test_a_job_on_a_cluster_that_loses_a_worker_comes_to_the_same_graph(tmp_path: Path):
    distributed = pytest.importorskip("distributed")
    file = tmp_path / "many.jsonl"
    file.write_bytes(lines(*texts(30)))
    with serving(RecordedServer()) as model:
        call(tmp_path / "here", "run", str(file), "--model-url", model.url)
        model.asked.clear()
        model.delay_s = 0.3
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask")
        ) as cluster:
            flags = (str(file), "--dask", cluster.scheduler_address, "--model-url", model.url)
            running = subprocess.Popen(
                command(tmp_path / "there", "run", *flags),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            wait_until(lambda: len(model.asked) >= 8 or running.poll() is not None)
            assert running.poll() is None, running.communicate()
            with distributed.Client(cluster) as client:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            out, reported = running.communicate(timeout=PATIENCE_S)
            assert running.returncode == 0, reported
        job = json.loads(call(tmp_path / "there", "show", out.strip()))
        assert job["documents"]["committed"] == 30
        graphs = []
        for name in ("here", "there"):
            with RunningServer(tmp_path / name, model_url=model.url) as server:
                graphs.append(graph_of(server.url))
        assert graphs[0] == graphs[1]


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_reported_and_waited_for(tmp_path: Path, leaflets: Path):
    pytest.importorskip("distributed")
    data = tmp_path / "data"
    with RunningServer(data, "--config", str(_config(tmp_path, "tcp://127.0.0.1:9"))) as server:
        job = call(data, "add", str(leaflets)).strip()
        wait_until(lambda: httpx.get(f"{server.url}/jobs/{job}", timeout=120).json()["problem"])
        found = httpx.get(f"{server.url}/jobs/{job}", timeout=120).json()
        assert "No Dask scheduler answers" in found["problem"]
        assert found["state"] == "running"


def _config(folder: Path, cluster: str) -> Path:
    path = folder / "urbankg.toml"
    path.write_text(f'job_cluster = "{cluster}"\n')
    return path
