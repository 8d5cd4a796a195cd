"""A real server process on a free port, as a user starts it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

import httpx

from tests.support.prepared_processes import PreparedProcess

PROGRAM = ("-m", "server")


class RunningServer:
    """`urbankg serve --data FOLDER --port 0` as a process; `url` is where it listens."""

    prepared: ClassVar = False
    """Whether processes are forked from one that has imported the modules: in tests, not in benchmarks."""

    def __init__(
        self,
        data: Path,
        *flags: str,
        model_url: str | None = None,
        log: Path | None = None,
        program: Sequence[str] = (),
    ) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("URBANKG_")}
        if model_url is not None:
            environment["URBANKG_MODEL_URL"] = model_url
        self.data = data
        self.log = log or data.with_suffix(".log")
        arguments = ["serve", "--data", str(data), "--port", "0", *flags]
        self.process: subprocess.Popen[bytes] | PreparedProcess
        with self.log.open("a") as out:
            if self.prepared and not program:
                self.process = PreparedProcess(arguments, stdout=out, stderr=out, env=environment)
            else:
                command = [sys.executable, *(program or PROGRAM), *arguments]
                self.process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        self.url = self._wait()

    def _wait(self) -> str:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()
            try:
                found = json.loads((self.data / "server.json").read_text())
                # The shapes are named once the gate is open: by then the ontology is committed, too.
                if (
                    found["pid"] == self.process.pid
                    and httpx.get(found["url"] + "/healthz", timeout=60).json()["shapes"] is not None
                ):
                    return str(found["url"])
            except (OSError, ValueError, httpx.HTTPError):
                pass
            time.sleep(0.05)
        raise AssertionError(f"the server did not come up: {self.log.read_text()}")

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=30)
