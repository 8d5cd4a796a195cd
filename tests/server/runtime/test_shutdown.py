"""A server that is asked to stop finishes what it took, and leaves nothing behind."""

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx

from sparql.storage.embedded_store import EmbeddedStore
from tests.support.running_server import PROGRAM, RunningServer
from tests.support.waiting import wait_until


def test_sigterm_ends_with_exit_code_0_and_nothing_acknowledged_is_lost(tmp_path: Path):
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    flags = ("--ontology", str(nothing), "--shapes", str(nothing))
    acknowledged: list[int] = []
    with RunningServer(tmp_path / "data", *flags, program=PROGRAM) as server:
        readers = _children(server.process.pid)
        assert readers

        def write() -> None:
            headers = {"content-type": "text/turtle"}
            for number in range(10_000):
                triple = f"<http://example.org/{number}> <http://example.org/p> {number} ."
                try:
                    answer = httpx.post(
                        server.url + "/store?default", content=triple, headers=headers, timeout=60
                    )
                except httpx.HTTPError:
                    return
                if not answer.is_success:
                    assert answer.status_code == 503, answer.text
                    return
                acknowledged.append(number)

        writing = threading.Thread(target=write)
        writing.start()
        wait_until(lambda: len(acknowledged) >= 5, seconds=30)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0
        writing.join()
        assert not (tmp_path / "data" / "server.json").exists()
        assert not [pid for pid in readers if Path(f"/proc/{pid}").exists()]
        log = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
        assert any("stopped" in line["message"] for line in log)
    assert len(acknowledged) >= 5
    store = EmbeddedStore(tmp_path / "data")
    held = {int(triple.object.value) for triple in store.match(None, None, None)}
    assert held >= set(acknowledged)


ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h FILTER(?a != ?g) }"


def test_sigterm_ends_the_server_in_five_seconds_whatever_runs(tmp_path: Path):
    """Queries, questions, extractions, loads, shape checks, streams, and clients that hang."""
    silent = socket.create_server(("127.0.0.1", 0))
    model_url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    with RunningServer(tmp_path / "data", model_url=model_url, program=PROGRAM) as server:
        readers = _children(server.process.pid)
        turtle = {"content-type": "text/turtle"}
        names = "".join(
            f"<https://e/{n}> a <https://w3id.org/urbankg/urban#Park> ; "
            f'<http://www.w3.org/2000/01/rdf-schema#label> "Green Park {n}"@en .\n'
            for n in range(2000)
        )
        assert httpx.post(server.url + "/candidates", content=names, headers=turtle, timeout=120).is_success

        def slow_body() -> Iterator[bytes]:
            for number in range(1000):
                yield f"<https://e/slow{number}> <https://e/p> {number} .\n".encode()
                time.sleep(0.05)

        large = "".join(f"<https://e/l{n}> <https://e/p> <https://e/l{n // 2}> .\n" for n in range(300_000))
        hostile = " ".join(["Green Park", "Park", "Green"] * 10)
        requests: list[Callable[[], object]] = [
            *[lambda: httpx.post(server.url + "/query", data={"query": ENDLESS}, timeout=60)] * 3,
            *[lambda: httpx.post(server.url + "/ask", json={"question": hostile}, timeout=60)] * 5,
            lambda: httpx.post(server.url + "/extractions", json={"text": "A park opened."}, timeout=60),
            lambda: httpx.post(server.url + "/jobs", content="A park opened.", headers=PLAIN, timeout=60),
            lambda: httpx.put(server.url + "/store?default", content=large, headers=turtle, timeout=60),
            lambda: httpx.post(
                server.url + "/store?default", content=slow_body(), headers=turtle, timeout=60
            ),
            lambda: httpx.post(server.url + "/check", json={}, timeout=60),
            lambda: _read_stream(server.url + "/changes?since=0"),
        ]
        threads = [threading.Thread(target=_quietly, args=(one,), daemon=True) for one in requests]
        for thread in threads:
            thread.start()
        address = httpx.URL(server.url)
        hanging = [socket.create_connection((address.host, address.port or 80)) for _ in range(5)]
        for one in hanging:
            one.sendall(b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nquery=")
        time.sleep(1.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=30) == 0
        assert time.monotonic() - started < 5
        for one in (*hanging, silent):
            one.close()
        wait_until(lambda: not [pid for pid in readers if Path(f"/proc/{pid}").exists()], seconds=5)
        assert not (tmp_path / "data" / "server.json").exists()
    store = EmbeddedStore(tmp_path / "data")
    assert sum(1 for _ in store.match(None, None, None)) >= 4000


def test_a_request_that_the_end_cuts_off_is_answered_with_words(tmp_path: Path):
    silent = socket.create_server(("127.0.0.1", 0))
    model_url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    answers: list[httpx.Response] = []
    with RunningServer(tmp_path / "data", model_url=model_url) as server:
        requests: list[Callable[[], httpx.Response]] = [
            lambda: httpx.post(server.url + "/extractions", json={"text": "A park opened."}, timeout=60),
            lambda: httpx.post(server.url + "/query", data={"query": ENDLESS}, timeout=60),
            lambda: httpx.get(server.url + "/sparql", params={"query": ENDLESS}, timeout=60),
        ]
        threads = [
            threading.Thread(target=_quietly, args=(lambda one=one: answers.append(one()),))
            for one in requests
        ]
        for thread in threads:
            thread.start()
        time.sleep(2)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=30) == 0
        for thread in threads:
            thread.join()
        silent.close()
    assert {answer.status_code for answer in answers} == {503}, [answer.text for answer in answers]
    assert all(answer.json()["title"] and answer.json()["detail"] for answer in answers)


PLAIN = {"content-type": "text/plain"}


def _quietly(request: Callable[[], object]) -> None:
    with suppress(httpx.HTTPError):
        request()


def _read_stream(url: str) -> None:
    with httpx.stream("GET", url, headers={"accept": "text/event-stream"}, timeout=60) as stream:
        for _ in stream.iter_bytes():
            pass


def _children(pid: int) -> list[int]:
    """The processes that a process started, by /proc."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry))
    return found
