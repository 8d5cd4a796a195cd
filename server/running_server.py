"""The address of the server that holds a data folder, published in the folder for other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

FILE = "server.json"


@dataclass(frozen=True)
class RunningServer:
    """A server that holds a folder: its address on this machine, and its process."""

    url: str
    pid: int


@contextmanager
def announced(folder: Path, url: str) -> Iterator[None]:
    """Publish the server's address in the folder, which this process holds, until the block ends."""
    file = folder / FILE
    made = file.with_name(f".{FILE}.new")
    made.write_text(json.dumps({"url": url, "pid": os.getpid()}), encoding="utf-8")
    os.replace(made, file)
    try:
        yield
    finally:
        withdraw(folder)


def withdraw(folder: Path) -> None:
    """Remove the address of this process, if it is still the one that is published."""
    # The folder is released by now: the next server may have written its own address already.
    server = running_server(folder)
    if server is not None and server.pid == os.getpid():
        (folder / FILE).unlink(missing_ok=True)


def running_server(folder: Path) -> RunningServer | None:
    """The server that holds the folder, if its address is published and its process is alive."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        server = RunningServer(found["url"], int(found["pid"]))
        os.kill(server.pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return server


def refusal(answer: httpx.Response) -> str:
    """A problem (RFC 9457) in words: its detail, and what violates shapes."""
    try:
        problem = answer.json()
        lines = [str(problem["detail"])]
    except (ValueError, KeyError, TypeError):
        return f"The server answered {answer.status_code}: {answer.text[:300]}"
    for name in ("violations", "results"):
        if problem.get(name):
            lines.append(f"{name}: {json.dumps(problem[name], ensure_ascii=False)}")
    return "\n".join(lines)
