"""Tries the clients that people use and writes the table of docs/clients.md (`make clients`).

Each program in `clients/tried` is one client, or a few, in an environment of their own. It is run against a
real server and prints a line of JSON for each thing it does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

ROOT: Final = Path(__file__).parents[1]
TRIED: Final = ROOT / "clients/tried"
CITY: Final = ROOT / "tests/data/mini_city.ttl"
_LONGEST_S: Final = 300
_FOUND: Final = {"triples": [{"subject": "Clock Museum", "relation": "opened", "object": "1931"}]}
"""What the language model finds in every text."""
KNOWN: Final = {
    ("roqet", "CONSTRUCT"): "it accepts tables only (`Accept`), whatever the query, and gets 406",
    ("LangChain RdfGraph", "update"): "rdflib's store names the graph by a blank node and refuses it itself",
}
"""What fails for reasons of the client alone."""
_BEGIN, _END = "| client | version | does | |\n|---|---|---|---|\n", "\n## Addresses"


@dataclass(frozen=True)
class Check:
    """One thing that a client was made to do."""

    client: str
    version: str
    does: str
    error: str | None

    @property
    def outcome(self) -> str:
        """What the table says."""
        if self.error is None:
            return "works"
        known = KNOWN.get((self.client, self.does))
        return "**fails**" if known is None else f"the client's own: {known}"


def programs(python: Path) -> Iterator[Sequence[str]]:
    """The command of each program."""
    for file in sorted(TRIED.glob("*_client*.py")):
        yield str(python), "-W", "ignore", str(file)
    for file in sorted(TRIED.glob("*.mjs")):
        if file.name != "checks.mjs":
            yield "node", str(file)


def tried(command: Sequence[str], url: str) -> list[Check]:
    """What a program reports; that it ended early is a failure as well."""
    done = subprocess.run(
        [*command, url], capture_output=True, text=True, timeout=_LONGEST_S, check=False, cwd=TRIED
    )
    checks = [Check(**json.loads(line)) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not checks:
        checks.append(Check(Path(command[-1]).name, "", "runs to its end", done.stderr.strip()))
    return checks


def table(checks: Sequence[Check]) -> str:
    """The rows: what a client does with the same outcome is one."""
    rows: list[str] = []
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for one in checks:
        grouped.setdefault((one.client, one.version, one.outcome), []).append(one.does)
    for (client, version, outcome), does in sorted(grouped.items(), key=lambda row: row[0][0].lower()):
        rows.append(f"| {client} | {version} | {'; '.join(does)} | {outcome} |\n")
    return "".join(rows)


def written(document: str, rows: str) -> str:
    """The document with these rows."""
    head, _, rest = document.partition(_BEGIN)
    return head + _BEGIN + rows + _END + rest.partition(_END)[2]


def main() -> int:
    """Run all programs; 1 when a client fails by the server's fault."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--python", type=Path, default=TRIED / ".venv/bin/python", help="with the clients")
    options.add_argument("--write", type=Path, help="the document whose table to write")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        load = [sys.executable, "-m", "server", "load", str(CITY), "--data", str(data)]
        subprocess.run(load, check=True, capture_output=True, timeout=_LONGEST_S)
        with (
            running(StandIn(answer=json.dumps(_FOUND))) as model,
            RunningServer(data, model_url=model.url) as server,
        ):
            checks = [check for command in programs(given.python) for check in tried(command, server.url)]
    for one in checks:
        print(f"{one.client} {one.version}: {one.does}: {one.outcome}")
        if one.error is not None and (one.client, one.does) not in KNOWN:
            print(one.error, file=sys.stderr)
    if given.write is not None:
        document = given.write.read_text(encoding="utf-8")
        given.write.write_text(written(document, table(checks)), encoding="utf-8")
    unknown = [one for one in checks if one.error is not None and (one.client, one.does) not in KNOWN]
    # What is known to fail and works by now has to leave the list.
    over = KNOWN.keys() - {(one.client, one.does) for one in checks if one.error is not None}
    if over:
        print("works by now:", *sorted(over), file=sys.stderr)
    return 1 if unknown or over else 0


if __name__ == "__main__":
    sys.exit(main())
