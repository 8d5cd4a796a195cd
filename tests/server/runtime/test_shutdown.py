"""A server that is asked to stop finishes what it took, and leaves nothing behind."""

import json
import os
import signal
import threading
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
