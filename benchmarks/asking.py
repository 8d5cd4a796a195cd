"""What a question costs on a large made-up graph, in process, at rest and beside commits.

    python -m benchmarks.asking [--triples 10000000] [--folder /tmp]

A made-up city (`benchmarks/bulk/data.py`) is loaded into memory with the shipped ontology. Forty questions of
ten forms are asked after the summary of the data was read: once at rest, and once with a commit of statements
of four properties before each question, which the summary follows. No model.

Times are of the processor: everything happens in this process, and other work on the machine does not count.
Bars: p50 under 50 ms and p95 under 500 ms at rest. Exit code 1 when one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions

from benchmarks.bulk.data import EX, URBAN, write_city
from geo.functions import FUNCTIONS
from research.questions.asking import QuestionGraph
from sparql.model.options import Options
from sparql.rewriting.rewriter import Rewriter
from sparql.rewriting.steps import Probe, Row
from tests.support.processes import load_average
from tests.support.rewriting import drive

P50_BAR_MS = 50.0
P95_BAR_MS = 500.0
ONTOLOGY = Path(__file__).parents[1] / "ontology"
XSD = "http://www.w3.org/2001/XMLSchema#"
FORMS = (
    "When did {building} open?",
    "How tall is {building}?",
    "Where is {building}?",
    "Which museums are in {district}?",
    "How many libraries are in {district}?",
    "Which schools in {district} opened before 1750?",
    "What is the tallest building in {district}?",
    "Is {building} in {district}?",
    "Which museums are within 500 m of {pointed}?",
    "Which is taller, {building} or {pointed}?",
)
_NAMED = f"""SELECT ?label (BOUND(?g) AS ?p) {{
  ?x <http://www.w3.org/2000/01/rdf-schema#label> ?label .
  FILTER(LANG(?label) = "en" && STRSTARTS(STR(?x), "{EX}b"))
  OPTIONAL {{ ?x <http://www.opengis.net/ont/geosparql#hasDefaultGeometry> ?g }}
}} LIMIT 50000"""


class IndexedGraph(QuestionGraph):
    """A graph whose queries use the index of geometries, as a server's do."""

    def __init__(self, files: Sequence[Path], ontology: Path | None) -> None:
        super().__init__(files, ontology)
        self._rewriter = Rewriter(self)

    def revision(self) -> int:
        """The commits of this program have no geometries."""
        return 1

    async def run(self, query: str) -> dict[str, Any]:
        """Rewrite a query and run it."""
        preparation = self._rewriter.preparation(query, Options())
        if preparation is not None:
            query = drive(self._rewriter.steps(preparation, 1), self._probe)
        return await super().run(query)

    def _probe(self, probe: Probe) -> list[Row]:
        rows = self.store.query(probe.text, custom_functions=dict(FUNCTIONS))
        assert isinstance(rows, QuerySolutions)
        names = [variable.value for variable in rows.variables]
        return [{name: row[name] for name in names if row[name] is not None} for row in rows]


def questions(labels: Sequence[str], pointed: Sequence[str], seed: int = 7) -> list[str]:
    """Return four questions of each form about buildings that there are."""
    random = Random(seed)
    return [
        form.format(
            building=random.choice(labels),
            pointed=random.choice(pointed),
            district=f"District {random.randrange(300)}",
        )
        for form in FORMS
        for _ in range(4)
    ]


async def ask(graph: QuestionGraph, asked: Sequence[str], commit: bool) -> tuple[list[float], int]:
    """Ask all questions; the milliseconds of each, and how many were answered."""
    times, answered = [], 0
    for number, question in enumerate(asked):
        if commit:
            graph.commit(statements(number))
        start = time.process_time()
        result = await graph.asker.ask(question)
        times.append((time.process_time() - start) * 1000)
        answered += result.answer is not None
    return times, answered


def statements(number: int) -> list[Quad]:
    """Return the statements of a new building."""
    new = NamedNode(f"{EX}new{number}")
    values = (("height", "12.5", "decimal"), ("opened", "1990-01-01", "date"), ("floorCount", "3", "integer"))
    found = [
        Quad(new, NamedNode(URBAN + name), Literal(value, datatype=NamedNode(XSD + kind)))
        for name, value, kind in values
    ]
    return [*found, Quad(new, NamedNode(URBAN + "locatedIn"), NamedNode(f"{EX}d{number}"))]


def memory_mb() -> int:
    """Return the memory of this process, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 // 1_000_000


def main() -> None:
    """Print the times; exit with 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp"))
    arguments = parser.parse_args()
    with TemporaryDirectory(dir=arguments.folder) as folder:
        file = Path(folder) / "city.nt"
        triples = write_city(file, arguments.triples)
        graph = IndexedGraph([file], ONTOLOGY)
    rows = asyncio.run(graph.run(_NAMED))["results"]["bindings"]
    found = [(row["label"]["value"], row["p"]["value"] == "true") for row in rows]
    asked = questions([label for label, _ in found], [label for label, has in found if has])
    before, start = memory_mb(), time.process_time()
    asyncio.run(graph.asker.prepare())
    took = time.process_time() - start
    print(
        f"{triples:,} triples ({before:,} MB); the summary is read in {took:.1f} s and takes "
        f"{memory_mb() - before:,} MB; load {load_average()}"
    )
    missed = False
    for words, commit in (("at rest", False), ("beside commits", True)):
        times, answered = asyncio.run(ask(graph, asked, commit))
        cuts = quantiles(times, n=20)
        print(f"{words}: p50 {cuts[9]:.0f} ms, p95 {cuts[18]:.0f} ms, {answered} of {len(asked)} answered")
        slowest = sorted(zip(times, asked, strict=True), reverse=True)[:3]
        print("".join(f"  {ms:.0f} ms: {question}\n" for ms, question in slowest), end="")
        missed = missed or (not commit and (cuts[9] >= P50_BAR_MS or cuts[18] >= P95_BAR_MS))
    sys.exit(missed)


if __name__ == "__main__":
    main()
