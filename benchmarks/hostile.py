"""Attacks on a real server: a line for each with `held` or `FAILED`; exit code 1 when any failed.

Keys by every route of the description, origins by hosts, requests that would have the server ask other hosts
or read other files, framing that hides requests, bodies that grow, inputs
that cost more to answer than to send, and names of files that lead elsewhere.
`benchmarks/fuzz.py` looks for crashes; this looks for what must never be allowed.

    python -m benchmarks.hostile --only framing
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

from tests.support.attacks import bombs, costly, framing, names, outside, pages, scopes
from tests.support.attacks.attack import Result, Target, targets
from tests.support.attacks.costly import limited_server
from tests.support.attacks.costly_inputs import inputs

Attack = Callable[[Target], Iterator[Result]]
OPEN: dict[str, Attack] = {
    "pages": pages.attacks,
    "outside": outside.attacks,
    "framing": framing.attacks,
    "bombs": bombs.attacks,
    "names": names.attacks,
}


def results(only: str | None = None) -> Iterator[Result]:
    """What came of each attack, as they are made; of one group where it is named, `costly` only so."""
    with targets() as (open_, keyed):
        for name, attacks in OPEN.items():
            if only in (None, name):
                yield from attacks(open_)
        if only == "costly":
            # Deadlines to the tenth of a second: for a quiet machine. Tests try the same with room for load.
            with limited_server() as limited:
                yield from costly.results(limited, list(inputs()))
        if only in (None, "keys"):
            yield from scopes.attacks(keyed)


def main(arguments: list[str] | None = None) -> int:
    """Run them, print each, 1 when any failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=(*OPEN, "costly", "keys"))
    options = parser.parse_args(arguments)
    started = time.monotonic()
    failed = 0
    count = 0
    for result in results(options.only):
        print(result.line(), flush=True)
        count += 1
        failed += not result.held
    print(f"{count} attacks, {failed} failed, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
