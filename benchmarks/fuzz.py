"""A fuzz of the whole HTTP interface: no 500, no hang, no death, and an answer afterwards.

A real server process, with a stand-in for the language model, is sent what no good client sends: malformed
heads and framings, odd methods, parameters and bodies on every route that its OpenAPI description names,
documents and queries that nest without end, slow clients and clients that leave; then what schemathesis makes
of that description. After each group the same server process must answer a query.

A failure is a status of 500 and above other than 501, 503 and 504, a request without an end, a server that is
gone, and an answer that the description does not tell of. Exit code 1 when there is any.

    python -m benchmarks.fuzz --examples 100 --seed 7
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.fuzzing.described import bodies, forms, methods, parameters, routes_of
from benchmarks.fuzzing.documents import graph_documents, queries
from benchmarks.fuzzing.generated import generated
from benchmarks.fuzzing.heads import framings, heads, pipelines
from benchmarks.fuzzing.ledger import Ledger
from benchmarks.fuzzing.slow import leaving, run_together, slow_exchanges, stalled
from benchmarks.fuzzing.wire import Exchange, exchange
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

PATIENCE_S = 2.0
_GRAPH = "".join(f"<http://example.org/{n}> <http://example.org/p> {n}, 'number {n}' .\n" for n in range(500))
_QUERY = "SELECT * WHERE { ?s ?p ?o } LIMIT 1"


class FittingStandIn(StandIn):
    """Answers every dialog with the simplest value of the schema that comes with it."""

    def _text(self, body: dict[str, Any], trouble: str) -> str:
        schema = body.get("response_format", {}).get("value", {})
        asked = "steps" in schema.get("properties", {})
        self.answer = '{"steps":[{"op":"count"}]}' if asked else '{"triples":[]}'
        return super()._text(body, trouble)


@dataclass(frozen=True)
class Target:
    """The server under fuzz."""

    server: RunningServer
    ledger: Ledger

    @property
    def url(self) -> str:
        return self.server.url

    def check(self, group: str) -> None:
        """The same process still answers, reads and writes."""
        if self.server.process.poll() is not None:
            self.ledger.fail(f"{group}: the server is gone; its log ends with {self._log_end()}")
            raise SystemExit(report(self.ledger))
        turtle = {"content-type": "text/turtle"}
        graph = {"graph": "http://example.org/alive"}
        try:
            httpx.get(self.url + "/healthz", timeout=60, trust_env=False).raise_for_status()
            put = httpx.put(
                self.url + "/store", params=graph, content=b"<a:a> <a:b> 1 .", headers=turtle, timeout=60
            )
            put.raise_for_status()
            answer = httpx.get(self.url + "/sparql", params={"query": _QUERY, "timeout": "50"}, timeout=60)
            answer.raise_for_status()
        except httpx.HTTPError as error:
            self.ledger.fail(f"{group}: the server does not answer afterwards: {error!r}")

    def send(self, group: str, exchanges: Iterable[Exchange], *, answered: bool = False) -> None:
        """Each exchange after the other, then the check."""
        for one in exchanges:
            for answer in exchange(self.url, one):
                self.ledger.add(group, one.name, answer, must_answer=answered)
        self.check(group)

    def _log_end(self) -> str:
        return self.server.log.read_text()[-2000:]


@contextmanager
def target(patience_s: float = PATIENCE_S) -> Iterator[Target]:
    """A server on a small graph that soon loses its patience with slow clients."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="urbankg-fuzz-")))
        config = folder / "urbankg.toml"
        config.write_text(f'client_timeout_s = {patience_s}\nlog_level = "warning"\n')
        model = stack.enter_context(running(FittingStandIn()))
        server = RunningServer(folder / "data", "--config", str(config), model_url=model.url)
        stack.enter_context(server)
        headers = {"content-type": "text/turtle"}
        put = httpx.put(server.url + "/store?default", content=_GRAPH, headers=headers, timeout=60)
        put.raise_for_status()
        yield Target(server, Ledger())


def some(exchanges: Iterable[Exchange], share: float, seed: int) -> list[Exchange]:
    """A share of them, the same ones for the same seed, in their order."""
    found = list(exchanges)
    if share >= 1:
        return found
    chosen = random.Random(seed).sample(range(len(found)), max(1, int(len(found) * share)))
    return [found[index] for index in sorted(chosen)]


def protocol(target: Target, *, share: float = 1.0, seed: int = 7) -> None:
    """All that is written here by hand, or a share of it; nothing that waits for the server's patience."""
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


def clients(target: Target) -> None:
    """Clients that are slow, stalled, or gone."""
    run_together(target.url, target.ledger, "slow clients", list(slow_exchanges(PATIENCE_S)))
    target.check("slow clients")
    stalled(target.url, target.ledger)
    target.check("stalled readers")
    leaving(target.url, target.ledger, 200)
    target.check("clients that leave")


def report(ledger: Ledger) -> int:
    """Print the table and the failures; the exit code."""
    print(ledger.table())
    for failure in ledger.failures[:60]:
        print(f"FAILURE {failure}")
    print(f"{ledger.cases} cases, {len(ledger.failures)} failures")
    return 1 if ledger.failures else 0


def main(arguments: list[str] | None = None) -> int:
    """Run all, print the table, 1 when anything fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=100, help="random requests for each route")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--most", type=int, default=1200, help="seconds that generated requests may take")
    parser.add_argument("--only", choices=("protocol", "clients", "generated"))
    options = parser.parse_args(arguments)
    with target() as found:
        if options.only in (None, "protocol"):
            protocol(found, seed=options.seed)
        if options.only in (None, "clients"):
            clients(found)
        if options.only in (None, "generated"):
            phases = ("examples", "coverage", "fuzzing")
            generated(
                found.url,
                found.ledger,
                seed=options.seed,
                examples=options.examples,
                phases=phases,
                most_s=options.most,
            )
            found.check("generated")
        problems = [line for line in found.server.log.read_text().splitlines() if '"level": "error"' in line]
        for line in problems[:5]:
            told = json.loads(line)
            print(f"log: {told.get('error')} {told.get('message', '').strip()} {told.get('places', ())[-3:]}")
        return report(found.ledger)


if __name__ == "__main__":
    sys.exit(main())
