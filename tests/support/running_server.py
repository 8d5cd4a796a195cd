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
from typing import Self

import httpx


class RunningServer:
    """`urbankg serve --data FOLDER --port 0` as a process; `url` is where it listens."""

    def __init__(
        self,
        data: Path,
        *flags: str,
        model_url: str | None = None,
        log: Path | None = None,
        program: Sequence[str] = ("-m", "server"),
    ) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("URBANKG_")}
        if model_url is not None:
            environment["URBANKG_MODEL_URL"] = model_url
        self.data = data
        self.log = log or data.with_suffix(".log")
        command = [sys.executable, *program, "serve", "--data", str(data), "--port", "0", *flags]
        with self.log.open("a") as out:
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
