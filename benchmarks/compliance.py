"""Runs the GeoSPARQL compliance benchmark against this server and prints a table per requirement.

    python -m benchmarks.compliance [--data FOLDER] [--only PATTERN ...] [--write FILE]

The 206 queries of the benchmark, the 44 cases of the engine's own suite, and the OGC register of functions
against the service description; everything over HTTP against a real server process. Geometry is compared as
geometry, numbers within half a percent. Ends with 1 when something fails whose cause is not in
`ogc/known.toml`, or when one listed there passes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat

from benchmarks.ogc.archives import (
    GEOF,
    Case,
    DataMissing,
    benchmark_cases,
    engine_cases,
    registered,
    unpacked,
)
from benchmarks.ogc.comparison import Answer, difference
from benchmarks.ogc.geodesics import buffer_problem, distance_problem
from benchmarks.ogc.requirements import TITLES, switches_of
from benchmarks.w3c.report import Cause, Outcome, print_failures, read_known, unexpected
from benchmarks.w3c.server_process import Server, running_server

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data" / "geosparql"
BENCHMARK, ENGINE, REGISTER = "GeoSPARQL compliance benchmark", "engine's GeoSPARQL cases", "OGC register"
GEODESICS = "Meters on the ellipsoid"
# What the benchmark expects of these cannot be right (see known.toml): checked on the ellipsoid instead.
ON_THE_ELLIPSOID = {
    **{f"query-r19-1-{number}": distance_problem for number in range(1, 5)},
    **{f"query-r19-2-{number}": buffer_problem for number in range(1, 3)},
}


def main() -> int:
    """Run everything; the exit code."""
    arguments = read_arguments()
    begun = time.monotonic()
    try:
        with unpacked(arguments.data) as root, TemporaryDirectory(prefix="compliance-") as folder:
            outcomes = run(root, Path(folder), arguments.only)
    except DataMissing as error:
        print(error, file=sys.stderr)
        return 2
    causes = read_known(HERE / "ogc" / "known.toml")
    table = rows_of(outcomes)
    for title, passed, total in table:
        print(f"{title:100} {passed:5} of {total:4}")
    print_failures(outcomes, causes)
    if arguments.write is not None:
        arguments.write.write_text(as_markdown(table, outcomes, causes), encoding="utf-8")
    wrong = unexpected(outcomes, causes)
    print(f"\n{len(outcomes)} checks in {time.monotonic() - begun:.0f} s; {len(wrong)} not as expected")
    for line in wrong:
        print("  " + line)
    return 1 if wrong else 0


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Runs the GeoSPARQL compliance benchmark.")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with benchmark/, oxigraph/ and ogc/")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of names, such as 'query-r19-*'")
    parser.add_argument("--write", type=Path, help="a Markdown file for the table and the causes")
    return parser.parse_args()


def run(root: Path, folder: Path, patterns: Sequence[str]) -> list[Outcome]:
    """Start a server, load the benchmark's data, ask everything."""
    outcomes = []
    with running_server(folder) as server:
        load(server, root / "benchmark/gsb_dataset/dataset.rdf")
        for case in chosen(benchmark_cases(root), patterns):
            problem = run_case(server, case, switches_of(case.requirement))
            outcomes.append(Outcome(BENCHMARK, requirement_title(case.requirement), case.name, problem))
            if check := ON_THE_ELLIPSOID.get(case.name):
                problem = check(ask(server, case.query, {}))
                outcomes.append(Outcome(GEODESICS, GEODESICS, case.name + "-in-meters", problem))
        for case in chosen(engine_cases(root), patterns):
            outcomes.append(Outcome(ENGINE, ENGINE, case.name, run_case(server, case, {})))
        described = described_functions(server)
    for name in sorted(registered(root)):
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            problem = None if name in described else "not in the service description"
            outcomes.append(
                Outcome(REGISTER, "Functions of the register in the service description", name, problem)
            )
    return outcomes


def chosen(cases: Iterable[Case], patterns: Sequence[str]) -> list[Case]:
    """The cases whose names fit a pattern."""
    return [case for case in cases if any(fnmatchcase(case.name, pattern) for pattern in patterns)]


def load(server: Server, file: Path) -> None:
    """Put the benchmark's data into the default graph."""
    answer = server.send("PUT", "/store?default", {"Content-Type": "application/rdf+xml"}, file.read_bytes())
    if answer.status >= 300:
        raise RuntimeError(f"The data was refused: {answer.status} {answer.body[:500]!r}")


def ask(server: Server, query: str, switches: dict[str, str]) -> bytes | str:
    """The answer in SPARQL XML; a text says what went wrong."""
    answer = server.send(
        "POST",
        "/sparql?" + urlencode(switches),
        {"Content-Type": "application/sparql-query", "Accept": "application/sparql-results+xml"},
        query.encode(),
    )
    return answer.body if answer.status == 200 else f"status {answer.status}: {answer.body[:300]!r}"


def run_case(server: Server, case: Case, switches: dict[str, str]) -> str | None:
    """Why a case fails, against the first of its answers; None where it passes."""
    body = ask(server, case.query, switches)
    if isinstance(body, str):
        return body
    found = Answer(body)
    ordered = "ORDER BY" in case.query.upper()
    problems = [difference(Answer(answer), found, ordered=ordered) for answer in case.answers]
    return None if None in problems else problems[0]


def described_functions(server: Server) -> set[str]:
    """The local names of the functions and aggregates that the service description lists."""
    answer = server.send("GET", "/sparql", {"Accept": "text/turtle"})
    names = set()
    for quad in pyoxigraph.parse(answer.body, format=RdfFormat.TURTLE):
        listed = quad.predicate.value.endswith(("#extensionFunction", "#extensionAggregate"))
        if listed and isinstance(quad.object, NamedNode):
            names.add(quad.object.value.removeprefix(GEOF))
    return names


def requirement_title(number: int) -> str:
    """The name of a line of the table."""
    return f"R{number} {TITLES[number]}"


def rows_of(outcomes: Sequence[Outcome]) -> list[tuple[str, int, int]]:
    """Title, passed and all: a line per requirement, then one per group."""
    rows = []
    for group in dict.fromkeys(outcome.group for outcome in outcomes):
        members = [outcome for outcome in outcomes if outcome.group == group]
        suites = dict.fromkeys(outcome.suite for outcome in members)
        for suite in suites:
            lot = [outcome for outcome in members if outcome.suite == suite]
            rows.append((suite, sum(one.problem is None for one in lot), len(lot)))
        if len(suites) > 1:
            passed = sum(one.problem is None for one in members)
            rows.append((f"**{group}**", passed, len(members)))
    return rows


def as_markdown(
    table: Sequence[tuple[str, int, int]], outcomes: Sequence[Outcome], causes: Sequence[Cause]
) -> str:
    """The page for people: the table, then each failure with its cause."""
    lines = ["# GeoSPARQL compliance", "", "Written by `make compliance`.", ""]
    lines += ["| requirement | passed | of |", "|---|--:|--:|"]
    lines += [f"| {title} | {passed} | {total} |" for title, passed, total in table]
    failed = [outcome.name for outcome in outcomes if outcome.problem is not None]
    lines += ["", "## Failures by cause", ""]
    for cause in causes:
        names = [name for name in failed if name in cause.tests]
        if names:
            lines.append(f"- {cause.reason}: {', '.join(f'`{name}`' for name in names)}.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
