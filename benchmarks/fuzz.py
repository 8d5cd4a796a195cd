"""A fuzz of the whole HTTP interface: no 500, no hang, no death, and an answer afterwards.

A real server process, with a stand-in for the language model, is sent what no good client sends: malformed
heads and framings, odd methods, parameters and bodies on every route that its OpenAPI description names,
documents and queries that nest without end, slow clients and clients that leave; then what schemathesis makes
of that description. After each group the same server process must answer a query.

A failure is a status of 500 and above other than 501, 503 and 504, a request without an end, a server that is
gone, and an answer that the description does not name. Exit code 1 when there is any.

    python -m benchmarks.fuzz --examples 100 --seed 7
"""

from __future__ import annotations

import argparse
import json
import sys

from benchmarks.fuzz_generated import generated
from tests.support.fuzzing.ledger import Ledger
from tests.support.fuzzing.slow import leaving, run_together, slow_exchanges, stalled
from tests.support.fuzzing.target import CLIENT_TIMEOUT_S, ServerGoneError, Target, protocol, target


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
    parser.add_argument("--most", type=int, default=1200, help="seconds that generated requests may take")
    parser.add_argument("--only", choices=("protocol", "clients", "generated"))
    options = parser.parse_args(arguments)
    with target() as found:
        try:
            _run(found, options)
        except ServerGoneError:
            return report(found.ledger)
        problems = [line for line in found.server.log.read_text().splitlines() if '"level": "error"' in line]
        for line in problems[:5]:
            entry = json.loads(line)
            print(
                f"log: {entry.get('error')} {entry.get('message', '').strip()} {entry.get('places', ())[-3:]}"
            )
        return report(found.ledger)


def _run(found: Target, options: argparse.Namespace) -> None:
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


if __name__ == "__main__":
    sys.exit(main())
