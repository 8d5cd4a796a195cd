"""A fuzz of the whole HTTP interface: no 500, no hang, no death, and an answer afterwards.

A real server process, with a stand-in for the language model, is sent what no good client sends: malformed
heads and framings, odd methods, parameters and bodies on every route that its OpenAPI description names,
documents and queries that nest without end, slow clients and clients that leave. Another one, which wants a
key for every request, is sent what schemathesis makes of that description, links between operations included,
with a key that may only read and with one that may do everything; then files that were damaged on the way.
After each group the same server process must answer a query.

A failure is a status of 500 and above other than 501, 503 and 504, a request without an end, a server that is
gone, an answer that the description does not name, and a refused upload that changed the graph. Memory and
descriptors are printed before and after. Exit code 1 when there is any failure.

    python -m benchmarks.fuzz --examples 100 --seed 7
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress

from benchmarks.fuzz_generated import generated
from benchmarks.soaking.readings import memory_and_descriptors
from tests.support.fuzzing.ledger import Ledger
from tests.support.fuzzing.slow import leaving, run_together, slow_exchanges, stalled
from tests.support.fuzzing.target import CLIENT_TIMEOUT_S, ServerGoneError, Target, protocol, target
from tests.support.fuzzing.uploads import damaged_uploads

_PARTS = ("protocol", "clients", "generated", "uploads")
_PARTS_OF = {"read": "generated", "write": "generated"}


def clients(target: Target) -> None:
    """Clients that are slow, stalled, or gone."""
    run_together(target.url, target.ledger, "slow clients", list(slow_exchanges(CLIENT_TIMEOUT_S)))
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
    parser.add_argument("--most", type=int, default=1200, help="seconds for the requests of a key")
    parser.add_argument("--uploads", type=int, default=2000, help="damaged files to send")
    parser.add_argument("--only", choices=(*_PARTS, "read", "write"))
    options = parser.parse_args(arguments)
    failures = 0
    for keyed, parts in ((False, ("protocol", "clients")), (True, ("read", "write", "uploads"))):
        wanted = [part for part in parts if options.only in (None, part, _PARTS_OF.get(part))]
        if wanted:
            with target(keyed=keyed) as found:
                with suppress(ServerGoneError):
                    for part in wanted:
                        _measured(found, part, options)
                _print_errors(found)
                failures += report(found.ledger)
    return 1 if failures else 0


def _measured(found: Target, part: str, options: argparse.Namespace) -> None:
    """Run a part, and print memory and descriptors of the server's processes around it."""
    before = memory_and_descriptors(found.server.process.pid)
    if part == "protocol":
        protocol(found, seed=options.seed)
    elif part == "clients":
        clients(found)
    elif part == "uploads":
        # In quarters: the first loads what reads each kind, afterwards nothing may grow.
        for quarter in range(4):
            damaged_uploads(found, options.uploads // 4, options.seed + quarter)
            reading = memory_and_descriptors(found.server.process.pid)
            print(f"uploads, quarter {quarter + 1}: server {reading}", flush=True)
    else:
        generated(
            found,
            key=part,
            seed=options.seed,
            # What a key may not do is refused before it is read: a few of each are enough.
            examples=options.examples if part == "write" else max(1, options.examples // 5),
            most_s=options.most,
        )
        found.check(f"{part} key")
    after = memory_and_descriptors(found.server.process.pid)
    print(f"{part}: server {before}, then {after}", flush=True)


def _print_errors(found: Target) -> None:
    problems = [line for line in found.server.log.read_text().splitlines() if '"level": "error"' in line]
    for line in problems[:5]:
        entry = json.loads(line)
        print(f"log: {entry.get('error')} {entry.get('message', '').strip()} {entry.get('places', ())[-3:]}")


if __name__ == "__main__":
    sys.exit(main())
