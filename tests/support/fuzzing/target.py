"""The server under fuzz, and the requests written by hand that are sent to it."""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

import ontology
from server.http.access.keys import KeyStore, Scope
from tests.support.fuzzing.described import bodies, forms, methods, parameters, routes_of
from tests.support.fuzzing.documents import graph_documents, queries
from tests.support.fuzzing.heads import framings, heads, pipelines
from tests.support.fuzzing.ledger import Ledger
from tests.support.fuzzing.wire import Exchange, exchange
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

CLIENT_TIMEOUT_S = 2.0
_GRAPH = "".join(f"<http://example.org/{n}> <http://example.org/p> {n}, 'number {n}' .\n" for n in range(500))
_PROGRAM = Path(ontology.__file__).parents[1]
_QUERY = "SELECT * WHERE { ?s ?p ?o } LIMIT 1"


class ServerGoneError(Exception):
    """The server process ended."""


class FittingStandIn(StandIn):
    """Answers every dialog with the simplest value of the schema that comes with it."""

    def _text(self, body: dict[str, Any], trouble: str) -> str:
        schema = body.get("response_format", {}).get("value", {})
        asked = "steps" in schema.get("properties", {})
        self.answer = '{"steps":[{"op":"count"}]}' if asked else '{"triples":[]}'
        return super()._text(body, trouble)


@dataclass(frozen=True)
class Target:
    """The server under fuzz; `keys` are by name, and none where it needs none. `folder` is for its files."""

    server: RunningServer
    ledger: Ledger
    folder: Path
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def headers(self) -> dict[str, str]:
        """The header with the key that may do everything, where keys are needed."""
        return {"Authorization": f"Bearer {self.keys['write']}"} if self.keys else {}

    def check(self, group: str) -> None:
        """The same process still answers, reads and writes."""
        if self.server.process.poll() is not None:
            self.ledger.fail(f"{group}: the server is gone; its log ends with {self._log_end()}")
            raise ServerGoneError(group)
        turtle = {"content-type": "text/turtle", **self.headers}
        graph = {"graph": "http://example.org/alive"}
        try:
            httpx.get(self.url + "/healthz", timeout=60, trust_env=False).raise_for_status()
            put = httpx.put(
                self.url + "/store", params=graph, content=b"<a:a> <a:b> 1 .", headers=turtle, timeout=60
            )
            put.raise_for_status()
            asked = {"query": _QUERY, "timeout": "50"}
            answer = httpx.get(self.url + "/sparql", params=asked, headers=self.headers, timeout=60)
            answer.raise_for_status()
        except httpx.HTTPError as error:
            self.ledger.fail(f"{group}: the server does not answer afterwards: {error!r}")

    def send(self, group: str, exchanges: Iterable[Exchange], *, answered: bool = False) -> None:
        """Send the exchanges one by one, then check the server."""
        for one in exchanges:
            for answer in exchange(self.url, one):
                self.ledger.add(group, one.name, answer, must_answer=answered)
        self.check(group)

    def _log_end(self) -> str:
        return self.server.log.read_text()[-2000:]


@contextmanager
def target(client_timeout_s: float = CLIENT_TIMEOUT_S, *, keyed: bool = False) -> Iterator[Target]:
    """A server on a small graph that drops slow clients early, with folders of rules that can be edited.

    `keyed`: every request needs a key; `read` may only read, `write` may do everything.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="urbankg-fuzz-")))
        config = folder / "urbankg.toml"
        text = f'client_timeout_s = {client_timeout_s}\nlog_level = "warning"\n'
        keys = {}
        if keyed:
            keys = keys_in(folder / "data", {"read": [Scope.READ], "write": [Scope.ADMIN]})
            for part in ("ontology", "shapes"):
                shutil.copytree(_PROGRAM / part, folder / part, ignore=shutil.ignore_patterns("*.py", "__*"))
                text += f'{part} = "{folder / part}"\n'
            text += "open_reads = false\n"
        config.write_text(text)
        model = stack.enter_context(running(FittingStandIn()))
        server = RunningServer(folder / "data", "--config", str(config), model_url=model.url)
        stack.enter_context(server)
        found = Target(server, Ledger(), folder, keys)
        headers = {"content-type": "text/turtle", **found.headers}
        put = httpx.put(server.url + "/store?default", content=_GRAPH, headers=headers, timeout=60)
        put.raise_for_status()
        yield found


def keys_in(data: Path, scopes: Mapping[str, Collection[Scope]]) -> dict[str, str]:
    """Keys by name, with these scopes, of a data folder that is made here."""
    data.mkdir(parents=True)
    store = KeyStore(data)
    try:
        return {name: store.create(name, wanted)[1] for name, wanted in scopes.items()}
    finally:
        store.close()


def some(exchanges: Iterable[Exchange], share: float, seed: int) -> list[Exchange]:
    """A share of them, the same ones for the same seed, in their order."""
    found = list(exchanges)
    if share >= 1:
        return found
    chosen = random.Random(seed).sample(range(len(found)), max(1, int(len(found) * share)))
    return [found[index] for index in sorted(chosen)]


def protocol(target: Target, *, share: float = 1.0, seed: int = 7) -> None:
    """Send the requests written by hand, or a share of them; none that waits for the client timeout."""
    description = httpx.get(target.url + "/openapi.json", timeout=60, trust_env=False).json()
    routes = routes_of(description)
    groups: tuple[tuple[str, Callable[[], Iterable[Exchange]], bool], ...] = (
        ("heads", heads, False),
        ("framings", framings, False),
        ("pipelines", pipelines, False),
        ("methods on every route", lambda: methods(routes), False),
        ("parameters", lambda: parameters(routes), False),
        ("bodies", lambda: bodies(routes), True),
        ("forms", forms, True),
        ("nested documents", graph_documents, True),
        ("nested queries", queries, True),
    )
    for group, make, answered in groups:
        started = time.monotonic()
        target.send(group, some(make(), share, seed), answered=answered)
        print(f"{group}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
