"""The table per suite, the failures with their causes, and the verdict."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """What became of one test; ``problem`` is None where it passed."""

    group: str
    suite: str
    name: str
    problem: str | None


@dataclass(frozen=True)
class Cause:
    """Why some tests are known to fail."""

    reason: str
    tests: tuple[str, ...]


def read_known(path: Path) -> tuple[Cause, ...]:
    """The causes of known failures; tests are named, or given as patterns with * where a whole suite is."""
    with path.open("rb") as stream:
        entries = tomllib.load(stream)["cause"]
    return tuple(Cause(entry["reason"], tuple(entry["tests"])) for entry in entries)


def cause_of(name: str, causes: Iterable[Cause]) -> str | None:
    """Why a test is known to fail."""
    for cause in causes:
        if any(name == test or ("*" in test and fnmatchcase(name, test)) for test in cause.tests):
            return cause.reason
    return None


def print_table(outcomes: Sequence[Outcome]) -> None:
    """Passed, failed and all, per suite and per group of suites."""
    groups: dict[str, dict[str, list[Outcome]]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.group, {}).setdefault(outcome.suite, []).append(outcome)
    print(f"{'suite':44} {'passed':>7} {'failed':>7} {'of':>6}")
    for group, suites in groups.items():
        for suite, found in suites.items():
            _print_line("  " + suite, found)
        _print_line(group, [outcome for found in suites.values() for outcome in found])
    _print_line("all", outcomes)


def as_markdown(outcomes: Sequence[Outcome], causes: Sequence[Cause]) -> str:
    """The table and the causes as a page, with the tests of each cause by name."""
    lines = [
        "# W3C SPARQL suites",
        "",
        "Written by `make conformance`: what passes, what does not, and why.",
        "",
    ]
    lines += ["| suite | passed | failed | of |", "|---|--:|--:|--:|"]
    for group in dict.fromkeys(outcome.group for outcome in outcomes):
        members = [outcome for outcome in outcomes if outcome.group == group]
        for suite in dict.fromkeys(outcome.suite for outcome in members):
            lines.append(_markdown_row(suite, [one for one in members if one.suite == suite]))
        lines.append(_markdown_row(f"**{group}**", members))
    lines += [_markdown_row("**all**", outcomes), "", "## Failures by cause", ""]
    failed = [outcome.name for outcome in outcomes if outcome.problem is not None]
    for cause in causes:
        names = [name for name in failed if cause_of(name, [cause]) is not None]
        if names:
            lines.append(f"- {cause.reason}: {', '.join(f'`{name}`' for name in names)}.")
    return "\n".join(lines) + "\n"


def print_failures(outcomes: Iterable[Outcome], causes: Sequence[Cause]) -> None:
    """Each failure in a line, the known ones under their cause."""
    failed = [outcome for outcome in outcomes if outcome.problem is not None]
    by_cause: dict[str, list[Outcome]] = {}
    for outcome in failed:
        reason = cause_of(outcome.name, causes)
        by_cause.setdefault(reason or "NOT KNOWN", []).append(outcome)
    for reason, found in by_cause.items():
        print(f"\n{reason} ({len(found)})")
        for outcome in found:
            print(f"  {outcome.name}: {_short(outcome.problem or '')}")


def unexpected(outcomes: Iterable[Outcome], causes: Sequence[Cause]) -> list[str]:
    """Failures without a known cause, and tests that pass though one is named for them."""
    messages = []
    named: Mapping[str, Cause] = {test: cause for cause in causes for test in cause.tests if "*" not in test}
    for outcome in outcomes:
        if outcome.problem is not None and cause_of(outcome.name, causes) is None:
            messages.append(f"{outcome.name} fails: {_short(outcome.problem)}")
        if outcome.problem is None and outcome.name in named:
            messages.append(f"{outcome.name} passes now: take it out of known.toml")
    return messages


def _markdown_row(title: str, outcomes: Sequence[Outcome]) -> str:
    passed = sum(outcome.problem is None for outcome in outcomes)
    return f"| {title} | {passed} | {len(outcomes) - passed} | {len(outcomes)} |"


def _print_line(title: str, outcomes: Sequence[Outcome]) -> None:
    passed = sum(outcome.problem is None for outcome in outcomes)
    print(f"{title:44} {passed:7} {len(outcomes) - passed:7} {len(outcomes):6}")


def _short(problem: str) -> str:
    line = " ".join(problem.split())
    return line if len(line) <= 300 else line[:297] + "..."
