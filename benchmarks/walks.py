"""How many files of the product one request enters: what a newcomer reads who follows it.

Each request is sent twice before, so that neither imports nor first reads count; then a profile hook on every
thread of the server's process notes each function that is entered. Worker processes are not followed.
Run by `python -m benchmarks.walks`; it prints a table with the bars of each.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

from server.app import create_app
from server.runtime.wiring import build
from server.settings import Settings
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES

ROOT = str(Path(__file__).parents[1]) + "/"
PRODUCT = ("geo", "ontology", "extractors", "sparql", "shapes", "curation", "server")
TEXT = "The Strand Library is a library in Manhattan. It opened in 1927."
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://example.org/shapes#Named> sh:targetClass <http://example.org/Thing> ;
    sh:property [ sh:path rdfs:label ; sh:minCount 1 ; sh:message "It needs a name." ] .
"""
DATA = """
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
INSERT DATA { <http://example.org/a> a <https://w3id.org/urbankg/urban#Park> ; rdfs:label "Elm Park"@en . }
"""
UPDATE = {"content-type": "application/sparql-update"}
TURTLE = {"content-type": "text/turtle"}
GROUPS = "SELECT ?class (COUNT(?s) AS ?n) WHERE { ?s a ?class } GROUP BY ?class ORDER BY DESC(?n) LIMIT "
ASKED = "How many parks are there?"
Send = Callable[[httpx.AsyncClient, int], Awaitable[httpx.Response]]


def _shapes(number: int) -> str:
    return SHAPES.replace("It needs a name.", f"It needs a name ({number}).")


REQUESTS: dict[str, tuple[int, Send]] = {
    "GROUP BY": (25, lambda client, n: client.get("/sparql", params={"query": f"{GROUPS}{5 + n}"})),
    "question": (60, lambda client, n: client.post("/ask", json={"question": ASKED + " " * n})),
    "PUT of shapes": (
        60,
        lambda client, n: client.put("/shapes/walked.ttl", content=_shapes(n), headers=TURTLE, timeout=120),
    ),
    "text": (
        90,
        lambda client, n: client.post("/extractions", json={"text": TEXT, "source": f"{n}"}, timeout=300),
    ),
}
"""Each with its bar and what is sent the n-th time."""


class Walk:
    """Notes the files of the product that functions are entered in, in order, while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.files: set[str] = set()
        self.returns = 0
        self._last: dict[int, str] = {}

    def begin(self) -> None:
        """Forget what was noted, and note what follows."""
        self.files, self.returns, self._last, self.on = set(), 0, {}, True

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """The profile hook."""
        name = frame.f_code.co_filename
        if not self.on or event != "call" or not name.startswith(ROOT):
            return
        path = name.removeprefix(ROOT)
        if path.partition("/")[0] not in PRODUCT:
            return
        thread = threading.get_ident()
        if self._last.get(thread) != path:
            self.returns += path in self.files
            self._last[thread] = path
        self.files.add(path)


async def measure() -> None:
    """Send every request three times, the last one with the hook, and print the table."""
    walk = Walk()
    # Before any thread begins: a thread takes over the hook when it starts.
    threading.setprofile(walk)
    sys.setprofile(walk)
    with tempfile.TemporaryDirectory() as folder:
        rules = {"ontology": SHIPPED_ONTOLOGY, "shapes": SHIPPED_SHAPES}
        for name, shipped in rules.items():
            (Path(folder) / name).mkdir()
            for file in shipped.glob("*.ttl"):
                shutil.copy(file, Path(folder) / name)
        values: dict[str, Any] = {name: Path(folder) / name for name in ("data", "ontology", "shapes")}
        settings = Settings(**values)
        async with build(settings) as services:
            transport = httpx.ASGITransport(create_app(services))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
                await client.post(
                    "/update", content=DATA, headers={"content-type": "application/sparql-update"}
                )
                print(f"{'request':<16}{'files':>7}{'bar':>6}{'returns':>9}")
                for name, (bar, send) in REQUESTS.items():
                    for number in (1, 2):
                        (await send(client, number)).raise_for_status()
                    walk.begin()
                    answer = await send(client, 3)
                    walk.on = False
                    answer.raise_for_status()
                    print(f"{name:<16}{len(walk.files):>7}{bar:>6}{walk.returns:>9}", flush=True)


if __name__ == "__main__":
    asyncio.run(measure())
