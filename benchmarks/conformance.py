"""Runs the W3C SPARQL suites against this server and prints a table per suite.

    python -m benchmarks.conformance [--suites PLACE] [--only PATTERN ...] [--no-http] [--write FILE]

Queries and updates run in this process, through the readers and the writer; protocol, graph store and service
description through HTTP against a real server process. Ends with 1 when a test fails whose cause is not in
`w3c/known.toml`, or when one listed there passes.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.w3c.archive import SuitesMissing, unpacked
from benchmarks.w3c.description import run_description_test
from benchmarks.w3c.engine import Engine, started
from benchmarks.w3c.evaluation import run_query_test, run_update_test
from benchmarks.w3c.graph_store_text import GraphStoreText
from benchmarks.w3c.manifest import Test, read_tests
from benchmarks.w3c.protocol import run_graph_store_test, run_protocol_test
from benchmarks.w3c.report import Outcome, as_markdown, print_failures, print_table, read_known, unexpected
from benchmarks.w3c.server_process import Server, running_server
from benchmarks.w3c.syntax import run_syntax_test

HERE = Path(__file__).parent
SUITES = HERE.parent.parent / "shared" / "data" / "w3c" / "sparql"
MANIFESTS = {
    "SPARQL 1.1": ("sparql11/manifest-all.ttl", "sparql11/http-rdf-update/manifest.ttl"),
    "SPARQL 1.0": ("sparql10/manifest.ttl",),
    "SPARQL 1.2": ("sparql12/manifest.ttl",),
}
RUNNERS: dict[str, Callable[[Engine, Test], Awaitable[str | None]]] = {
    "QueryEvaluationTest": run_query_test,
    "CSVResultFormatTest": run_query_test,
    "UpdateEvaluationTest": run_update_test,
    "PositiveSyntaxTest": run_syntax_test,
    "NegativeSyntaxTest": run_syntax_test,
    "PositiveUpdateSyntaxTest": run_syntax_test,
    "NegativeUpdateSyntaxTest": run_syntax_test,
}

OVER_HTTP: dict[str, Callable[[Server, Test], str | None]] = {
    "ProtocolTest": run_protocol_test,
    "GraphStoreProtocolTest": run_graph_store_test,
    "ServiceDescriptionTest": run_description_test,
}


def main() -> int:
    """Run the suites; the exit code."""
    arguments = read_arguments()
    begun = time.monotonic()
    try:
        with unpacked(arguments.suites) as root, TemporaryDirectory(prefix="conformance-") as folder:
            chosen = [
                (group, test)
                for group, manifests in MANIFESTS.items()
                for manifest in manifests
                for test in read_tests(root, manifest)
                if any(fnmatchcase(test.name, pattern) for pattern in arguments.only)
            ]
            outcomes = asyncio.run(run_in_process(chosen, Path(folder)))
            if not arguments.no_http:
                outcomes += run_over_http(chosen, Path(folder))
    except SuitesMissing as error:
        print(error, file=sys.stderr)
        return 2
    causes = read_known(HERE / "w3c" / "known.toml")
    print_table(outcomes)
    print_failures(outcomes, causes)
    if arguments.write is not None:
        arguments.write.write_text(as_markdown(outcomes, causes), encoding="utf-8")
    wrong = unexpected(outcomes, causes)
    print(f"\n{len(outcomes)} tests in {time.monotonic() - begun:.0f} s; {len(wrong)} not as expected")
    for line in wrong:
        print("  " + line)
    return 1 if wrong else 0


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Runs the W3C SPARQL suites against this server.")
    parser.add_argument("--suites", type=Path, default=SUITES, help="folder or archive of the suites")
    parser.add_argument(
        "--only", nargs="+", default=["*"], help="patterns of test names, such as 'sparql11/bind#*'"
    )
    parser.add_argument("--no-http", action="store_true", help="leave out what needs a server process")
    parser.add_argument("--write", type=Path, help="a Markdown file for the table and the causes")
    return parser.parse_args()


async def run_in_process(chosen: Iterable[tuple[str, Test]], folder: Path) -> list[Outcome]:
    """Outcomes of the tests that need no HTTP, in their order."""
    tests = [(group, test) for group, test in chosen if test.kind in RUNNERS]
    outcomes = []
    if tests:
        async with started(folder) as engine:
            for group, test in tests:
                problem = await RUNNERS[test.kind](engine, test)
                outcomes.append(Outcome(group, test.suite, test.name, problem))
    return outcomes


def run_over_http(chosen: Iterable[tuple[str, Test]], folder: Path) -> list[Outcome]:
    """Outcomes of the tests about HTTP."""
    tests = [(group, test) for group, test in chosen if test.kind in OVER_HTTP]
    outcomes = []
    if tests:
        with running_server(folder) as server:
            older: GraphStoreText | None = None
            for group, test in tests:
                if test.suite.endswith("/http-rdf-update"):
                    older = older or GraphStoreText(server)
                    problem = older.run(test)
                else:
                    problem = OVER_HTTP[test.kind](server, test)
                outcomes.append(Outcome(group, test.suite, test.name, problem))
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
