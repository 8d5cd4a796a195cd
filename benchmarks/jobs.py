"""A job of many short documents: throughput, memory, and `kill -9` twice in the middle.

A recorded model (`benchmarks/recorded`: replies known beforehand, each after a delay) stands behind HTTP. The
same documents are posted to two real servers on new folders. One is left alone; the other is killed twice and
started again. Compared are the default graph, what was extracted, and the documents with how often each was
read.

What is written to a graph stays in the store's write buffers for a while. So a third server gets the same
documents one by one through `/extractions`: what memory grows by there is the graph's share, and the job's
own must be nothing beside it. A body of 100 MB is taken as a job, too. Exit code 1 when graphs differ, a
document is missing or doubled, or a job takes memory of its own.

    python -m benchmarks.jobs --documents 1000
    python -m benchmarks.jobs --embedded 20       # the embedded model instead, without kills
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import httpx

from tests.support.recorded.frames import texts

_LINES = {"content-type": "application/x-ndjson"}
_SAMPLE_S = 0.25
_SLACK_MB = 24.0
"""What two runs of the same work may differ by."""
_LARGE_MB = 100
_EXTRACTED = "https://w3id.org/urbankg/graph/extracted"


class Server:
    """`urbankg serve` as a process on a folder; with `model_url` None it has the embedded model."""

    def __init__(self, data: Path, model_url: str | None) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("URBANKG_")}
        environment["URBANKG_LOG_LEVEL"] = "warning"
        if model_url is not None:
            environment["URBANKG_MODEL_URL"] = model_url
        self.data = data
        data.mkdir(parents=True, exist_ok=True)
        (data / "server.json").unlink(missing_ok=True)
        with data.with_suffix(".log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "server", "serve", "--data", str(data), "--port", "0"],
                stdout=log,
                stderr=log,
                env=environment,
                cwd=Path(__file__).parent.parent,
            )
        self.url = self._wait()

    def _wait(self) -> str:
        while self.process.poll() is None:
            try:
                url = str(json.loads((self.data / "server.json").read_text())["url"])
                if httpx.get(f"{url}/healthz", timeout=120, trust_env=False).json()["shapes"]:
                    return url
            except (OSError, ValueError, httpx.HTTPError):
                pass
            time.sleep(0.05)
        raise SystemExit(f"the server ended: {self.data.with_suffix('.log').read_text()[-3000:]}")

    def get(self, path: str, **parameters: str) -> httpx.Response:
        """What an address answers."""
        answer = httpx.get(self.url + path, params=parameters, timeout=300, trust_env=False)
        answer.raise_for_status()
        return answer

    def post(self, documents: Sequence[str]) -> str:
        """Post a job; its identifier."""
        body = "".join(json.dumps({"text": text}) + "\n" for text in documents)
        answer = httpx.post(f"{self.url}/jobs", content=body, headers=_LINES, timeout=300, trust_env=False)
        answer.raise_for_status()
        return str(answer.json()["id"])

    def finished(self, job: str) -> dict[str, int]:
        """Wait for the end of a job by its events; what became of its documents."""
        with httpx.stream("GET", f"{self.url}/jobs/{job}/events", timeout=300, trust_env=False) as response:
            for _ in response.iter_lines():
                pass
        found: dict[str, int] = self.get(f"/jobs/{job}").json()["documents"]
        return {state: count for state, count in found.items() if count}

    def committed(self, job: str) -> int:
        """How many documents of a job are in the graph."""
        return int(self.get(f"/jobs/{job}").json()["documents"]["committed"])

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """SIGTERM."""
        self.process.terminate()
        self.process.wait(timeout=120)


@dataclass
class Memory:
    """The resident memory of a process, in MB, over the time of a job."""

    samples: list[float] = field(default_factory=list)

    @contextmanager
    def watching(self, pid: int) -> Iterator[None]:
        """Sample while the block runs."""
        over = Event()
        thread = Thread(target=self._watch, args=(pid, over))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _watch(self, pid: int, over: Event) -> None:
        while not over.wait(_SAMPLE_S):
            self.samples.append(_resident_mb(pid))

    @property
    def growth(self) -> float:
        """By how much the last quarter of the time exceeds the first sample."""
        return self.quarters()[3] - self.samples[0] if self.samples else 0.0

    def quarters(self) -> list[float]:
        """The most of each quarter of the time."""
        size = max(1, len(self.samples) // 4)
        return [max(self.samples[n * size : (n + 1) * size] or [0.0]) for n in range(4)]


@dataclass(frozen=True)
class Result:
    """What a run came to: statements without blank nodes, and documents with how often each was read."""

    graph: frozenset[str]
    extracted: frozenset[str]
    documents: frozenset[tuple[str, int]]


def result_of(server: Server) -> Result:
    """Read what is there now."""
    lines = server.get("/dump", format="nquads").text.splitlines()
    extracted = server.get("/dump", format="ntriples", graph=_EXTRACTED).text.splitlines()
    documents: set[tuple[str, int]] = set()
    while True:
        page = server.get("/documents", offset=str(len(documents)), limit="1000").json()
        documents |= {(one["id"], one["times"]) for one in page["documents"]}
        if len(documents) >= page["total"]:
            break
    # Blank nodes are the ontology's own, and have other names in every folder.
    return Result(
        frozenset(line for line in lines if "_:" not in line), frozenset(extracted), frozenset(documents)
    )


@contextmanager
def recorded_model(delay_s: float, at_once: int, replies: Path | None = None) -> Iterator[str]:
    """The recorded model as a process of its own, with these replies or those of the frames; its address."""
    command = [sys.executable, "-m", "tests.support.recorded.server", "--delay", str(delay_s)]
    process = subprocess.Popen(
        [*command, "--at-once", str(at_once), *(["--replies", str(replies)] if replies else [])],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    assert process.stdout is not None
    with process.stdout as printed:
        try:
            yield json.loads(printed.readline())["url"]
        finally:
            process.terminate()
            process.wait()


def undisturbed(folder: Path, model_url: str | None, documents: Sequence[str]) -> tuple[Result, Memory]:
    """The job on a server that is left alone; its throughput is printed."""
    server = Server(folder / "undisturbed", model_url)
    memory = Memory()
    try:
        begin = time.monotonic()
        job = server.post(documents)
        accepted_s = time.monotonic() - begin
        with memory.watching(server.process.pid):
            states = server.finished(job)
        seconds = time.monotonic() - begin
        print(
            f"undisturbed: {len(documents)} documents in {seconds:.1f} s, {len(documents) / seconds:.1f}/s "
            f"(accepted durably in {accepted_s:.2f} s): {states}"
        )
        quarters = ", ".join(f"{mb:.0f}" for mb in memory.quarters())
        print(f"memory of the server by quarters of the job, at most: {quarters} MB")
        return result_of(server), memory
    finally:
        server.stop()


def one_by_one(folder: Path, model_url: str, documents: Sequence[str], clients: int) -> Memory:
    """The same documents without a job; what memory grows by is the graph's share."""
    server = Server(folder / "one-by-one", model_url)
    memory = Memory()

    def send(text: str) -> None:
        body = {"text": text}
        httpx.post(f"{server.url}/extractions", json=body, timeout=300, trust_env=False).raise_for_status()

    try:
        begin = time.monotonic()
        with memory.watching(server.process.pid), ThreadPoolExecutor(clients) as senders:
            list(senders.map(send, documents))
        seconds = time.monotonic() - begin
        print(f"one by one through /extractions, {clients} clients: {len(documents) / seconds:.1f}/s")
        return memory
    finally:
        server.stop()


def large_body(folder: Path, megabytes: int) -> float:
    """Take a large body as a paused job; by how much memory grew at most, in MB."""
    server = Server(folder / "large", None)
    memory = Memory([])
    text = "Larnford is a city. " * 500

    def body() -> Iterator[bytes]:
        for number in range(megabytes * 100):
            yield json.dumps({"text": f"{number} {text}"}).encode() + b"\n"

    try:
        before = _resident_mb(server.process.pid)
        begin = time.monotonic()
        with memory.watching(server.process.pid):
            answer = httpx.post(
                f"{server.url}/jobs?paused=true", content=body(), headers=_LINES, timeout=900, trust_env=False
            )
        answer.raise_for_status()
        grown = max([*memory.samples, before]) - before
        print(
            f"a body of {megabytes} MB: {answer.json()['total']} documents taken in "
            f"{time.monotonic() - begin:.1f} s, memory grew by {grown:.0f} MB at most"
        )
        return grown
    finally:
        server.stop()


def killed(folder: Path, model_url: str, documents: Sequence[str], kills: int) -> Result:
    """The same job on a server that is killed in the middle, and started again each time."""
    server = Server(folder / "killed", model_url)
    try:
        begin = time.monotonic()
        job = server.post(documents)
        for number in range(1, kills + 1):
            wanted = len(documents) * number // (kills + 1)
            while server.committed(job) < wanted:
                time.sleep(0.05)
            server.kill()
            print(f"kill -9 at {wanted} documents")
            server = Server(folder / "killed", model_url)
        states = server.finished(job)
        print(f"killed {kills} times: done in {time.monotonic() - begin:.1f} s, starts included: {states}")
        return result_of(server)
    finally:
        server.stop()


def differences(expected: Result, found: Result, count: int) -> list[str]:
    """What is not as it should be, in words."""
    problems = []
    for name, one, other in (
        ("default graph", expected.graph, found.graph),
        ("extracted statements", expected.extracted, found.extracted),
        ("documents", expected.documents, found.documents),
    ):
        missing, extra = one - other, other - one
        print(
            f"{name}: {len(one)} undisturbed, {len(other)} after kills, {len(missing)} missing, "
            f"{len(extra)} extra"
        )
        if missing or extra:
            problems.append(f"{name} differ, such as {next(iter(missing or extra))}")
    if len(found.documents) != count:
        problems.append(f"{len(found.documents)} documents instead of {count}")
    twice = [document for document, times in found.documents if times != 1]
    if twice:
        problems.append(f"{len(twice)} documents were committed more than once")
    return problems


def _resident_mb(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    line = next((line for line in status.splitlines() if line.startswith("VmRSS")), "VmRSS: 0 kB")
    return int(line.split()[1]) / 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all, print what was found; 1 when something is not as it should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument(
        "--delay", type=float, default=0.1, help="seconds a reply of the recorded model takes"
    )
    parser.add_argument("--at-once", type=int, default=8, help="replies that it works on at a time")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--body", type=int, default=_LARGE_MB, help="MB of the large body")
    parser.add_argument("--embedded", type=int, metavar="N", help="N documents by the embedded model instead")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="urbankg-jobs-") as name:
        folder = Path(name)
        if options.embedded:
            undisturbed(folder, None, texts(options.embedded))
            return 0
        documents = texts(options.documents)
        with recorded_model(options.delay, options.at_once) as url:
            expected, memory = undisturbed(folder, url, documents)
            found = killed(folder, url, documents, options.kills)
            plain = one_by_one(folder, url, documents, options.at_once)
        grown = large_body(folder, options.body)
    problems = differences(expected, found, len(documents))
    print(f"memory grew by {memory.growth:.0f} MB in the job, by {plain.growth:.0f} MB one by one")
    if memory.growth > plain.growth + _SLACK_MB:
        problems.append("a job takes memory of its own while it runs")
    if grown > _SLACK_MB + options.body / 4:
        problems.append("a job takes memory of its own while it is posted")
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
