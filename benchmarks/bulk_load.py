"""What a bulk load costs beside `oxigraph load` and `oxigraph optimize`, and how soon the result serves.

    python -m benchmarks.bulk_load [--triples 5000000,20000000] [--rounds 1] [--folder /tmp]

A made-up city is written as N-Triples (`benchmarks/bulk/data.py`) and loaded by both programs in alternating
order: oxigraph's command line with its compaction, `urbankg load --bulk --no-report`, which compacts too, and
`urbankg load --bulk` with the shapes' report. Then a server is started on what was loaded. Processor seconds
count, since other work on the machine changes them less than time; memory is the most that a process held.

Bars: the load at most 1.5 times the processor time of oxigraph's two commands, with the report at most twice
that bar; the first query answered within 3 s of the start and the first write accepted within 10. Exit code 1
when one is missed. 20,000,000 triples take 2.5 GB of disk for the file and 3 GB for each store.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bulk.data import write_city
from benchmarks.bulk.processes import Cost, Start, cost_of, start_of
from tests.support.processes import load_average

LOAD_BAR = 1.5
REPORT_BAR = 2 * LOAD_BAR
QUERY_BAR_S = 3.0
WRITE_BAR_S = 10.0
_BIN = Path(sys.executable).parent


def oxigraph_cost(file: Path, folder: Path) -> Cost:
    """Load and compact with oxigraph's command line."""
    shutil.rmtree(folder, ignore_errors=True)
    loaded, _ = cost_of(_BIN / "oxigraph", "load", "--location", folder, "--file", file)
    compacted, _ = cost_of(_BIN / "oxigraph", "optimize", "--location", folder)
    shutil.rmtree(folder)
    return loaded + compacted


def our_cost(file: Path, folder: Path, *flags: str) -> Cost:
    """Load and compact with our command line; violations that the report finds are no failure."""
    shutil.rmtree(folder, ignore_errors=True)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "server",
        "load",
        "--data",
        folder,
        "--bulk",
        *flags,
        file,
    ]
    cost, output = cost_of(*command, codes=(0, 1))
    if "0 refused" not in output:
        raise RuntimeError(output)
    return cost


def measure(file: Path, folder: Path, rounds: int) -> tuple[list[Cost], list[Cost], list[Cost], Start]:
    """Costs by round of oxigraph, of our load and of our load with its report, and a start on the last."""
    theirs: list[Cost] = []
    plain: list[Cost] = []
    output: list[Cost] = []
    for turn in range(rounds):
        runs: list[Callable[[], None]] = [
            lambda: theirs.append(oxigraph_cost(file, folder / "theirs")),
            lambda: plain.append(our_cost(file, folder / "plain", "--no-report")),
            lambda: output.append(our_cost(file, folder / "ours")),
        ]
        for run in runs if turn % 2 == 0 else reversed(runs):
            run()
        shutil.rmtree(folder / "plain")
    return theirs, plain, output, start_of(folder / "ours")


def least(costs: list[Cost]) -> Cost:
    """The cheapest round: other work on the machine only adds."""
    return min(costs, key=lambda cost: cost.cpu_s)


def print_size(count: int, file: Path, folder: Path, rounds: int) -> bool:
    """Measure one size and print it; whether all bars are met."""
    theirs, plain, output, start = measure(file, folder, rounds)
    base, ours, whole = least(theirs), least(plain), least(output)
    print(f"{count} triples, {file.stat().st_size / 2**20:.0f} MB, load of the machine {load_average()}")
    print(f"  oxigraph load + optimize {base}")
    met = True
    for name, cost, bar in (("urbankg load", ours, LOAD_BAR), ("  with the report", whole, REPORT_BAR)):
        ratio = cost.cpu_s / base.cpu_s
        met &= ratio <= bar
        print(f"  {name:24} {cost}  {ratio:.2f} times, bar {bar:.1f}: {_word(ratio <= bar)}")
    for name, seconds, bar in (
        ("first query answered", start.query_s, QUERY_BAR_S),
        ("first write accepted", start.write_s, WRITE_BAR_S),
    ):
        met &= seconds <= bar
        print(
            f"  {name:24} {seconds:.1f} s after the start, bar {bar:.0f} s: {_word(seconds <= bar)}",
            flush=True,
        )
    return met


def _word(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> int:
    """Run all sizes; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--triples", default="5000000,20000000", help="sizes, separated by commas")
    parser.add_argument("--rounds", type=int, default=1, help="how often each program loads each size")
    parser.add_argument("--folder", type=Path, help="where the data go (a temporary folder)")
    arguments = parser.parse_args()
    met = True
    for size in map(int, arguments.triples.split(",")):
        with TemporaryDirectory(prefix="bulk-load-", dir=arguments.folder) as name:
            file = Path(name) / "city.nt"
            count = write_city(file, size)
            met &= print_size(count, file, Path(name), arguments.rounds)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
