"""Runs the W3C SHACL tests through the gate.

    python -m benchmarks.shacl_conformance [--suite PLACE] [--engine NAME] [--splits N] [--write FILE]

Each test's data goes in as one change to an empty store, and again as several random changes one after
another. What the gate finds is compared, result by result, with pySHACL over the whole: a change must bring
exactly the results that the graph after it has and the graph before it had not. A result is identified by its
focus node, path, value, component and severity; results of severity `sh:Info` are not the gate's. Ends with 1
where the gate finds less or more than pySHACL, or fails a test that pySHACL passes.
"""

from __future__ import annotations

import argparse
import random
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

import pyoxigraph
import rdflib
from pyoxigraph import NamedNode, Quad, RdfFormat, Triple
from pyshacl import validate
from rdflib.namespace import SH

from shapes.engine.reference import DataGraph
from shapes.errors import ShapesError
from shapes.gate.gate import EngineName, ShapesGate
from shapes.loading import ShapesFiles, load_shapes
from shapes.paths import parse_path, text
from sparql.model.change import Violation
from sparql.model.source import Overlay, TripleIndex, TripleSource
from sparql.model.vocabulary import RDF, Namespace
from sparql.storage.embedded_store import EmbeddedStore

SUITE = Path(__file__).parent.parent.parent / "shared" / "data" / "w3c" / "shacl" / "tests.tar.xz"
MF = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
SHT = Namespace("http://www.w3.org/ns/shacl-test#")
_CHANGES = 4
_WHY = {
    "core/property/datatype-ill-formed": "the store keeps xsd:byte as xsd:integer, so a stored value reads "
    "otherwise than the one that was judged; the server refuses this value anyway, as outside its datatype",
}
"""Differences that are understood."""
Result = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Case:
    """One test: its data, its shapes, and the results that it expects (None: a failure)."""

    name: str
    data: tuple[Triple, ...]
    shapes: ShapesFiles
    expected: Counter[Result] | None


@dataclass(frozen=True)
class Outcome:
    """What came of a test."""

    name: str
    whole_passes: bool
    gate_passes: bool
    steps: int
    notes: tuple[str, ...]
    differences: tuple[str, ...]


def main() -> int:
    """Print a table per suite and every difference; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, default=SUITE, help="folder or archive of the tests")
    parser.add_argument("--engine", choices=("compiled", "pyshacl"), default="compiled")
    parser.add_argument("--splits", type=int, default=1, help="how often data is split into random changes")
    parser.add_argument("--write", type=Path, help="a Markdown file for the table")
    arguments = parser.parse_args()
    missing = (
        f"There are no W3C SHACL tests at {arguments.suite}. Give data-shapes-test-suite/tests of "
        "github.com/w3c/data-shapes, or an archive of it, by --suite."
    )
    if not arguments.suite.exists():
        print(missing, file=sys.stderr)
        return 2
    begun = time.monotonic()
    outcomes = []
    with unpacked(arguments.suite) as root:
        for file in sorted(root.rglob("*.ttl")):
            for case in cases(file, root):
                outcomes.append(run(case, arguments.engine, arguments.splits))
                print(f"\r{len(outcomes)} tests", end="", file=sys.stderr, flush=True)
    if not outcomes:
        print(missing, file=sys.stderr)
        return 2
    lines = table(outcomes, arguments.engine)
    print("\n".join(lines))
    if arguments.write is not None:
        arguments.write.write_text("\n".join([*_HEAD, *lines, ""]), encoding="utf-8")
    wrong = [
        one
        for one in outcomes
        if (one.differences and one.name not in _WHY) or (one.whole_passes and not one.gate_passes)
    ]
    print(
        f"\n{len(outcomes)} tests in {time.monotonic() - begun:.0f} s; "
        f"{len(wrong)} not as pySHACL over the whole"
    )
    return 1 if wrong else 0


_HEAD = (
    "# SHACL conformance",
    "",
    "The W3C SHACL test suite through the gate, beside pySHACL over the whole of each test's data. Made by "
    "`make shacl-conformance`.",
    "",
)


@contextmanager
def unpacked(place: Path) -> Iterator[Path]:
    """The folder of the tests; an archive is unpacked for the time being."""
    if place.is_dir():
        yield place
        return
    with TemporaryDirectory(prefix="w3c-shacl-") as folder, tarfile.open(place) as packed:
        packed.extractall(folder, filter="data")
        yield Path(folder)


def cases(file: Path, root: Path) -> Iterator[Case]:
    """The validation tests of a file."""
    triples = read(file)
    index = TripleIndex(triples)
    for entry in sorted(index.match(None, RDF.type, SHT.Validate), key=str):
        (action,) = (t.object for t in index.match(entry.subject, MF.action, None))
        graphs = {}
        for kind in (SHT.dataGraph, SHT.shapesGraph):
            (iri,) = (t.object for t in index.match(action, kind, None))
            assert isinstance(iri, NamedNode)
            graphs[kind] = Path(iri.value.removeprefix("file://"))
        data = triples if graphs[SHT.dataGraph] == file else read(graphs[SHT.dataGraph])
        results = [t.object for t in index.match(entry.subject, MF.result, None)]
        failure = SHT.Failure in results
        with TemporaryDirectory() as folder:
            copy(graphs[SHT.shapesGraph], folder)
            shapes = load_shapes(Path(folder))
        yield Case(
            name=str(file.relative_to(root).with_suffix("")).removeprefix("data-shapes-test-suite/tests/"),
            data=tuple(data),
            shapes=shapes,
            expected=None if failure else Counter(expected(file)),
        )


def read(file: Path) -> list[Triple]:
    """The triples of a Turtle file."""
    parsed = pyoxigraph.parse(path=str(file), format=RdfFormat.TURTLE, base_iri=file.as_uri())
    return [quad.triple for quad in parsed]


def expected(file: Path) -> Iterator[Result]:
    """The results of the report that a test expects."""
    graph = rdflib.Graph()
    for triple in DataGraph(TripleIndex(read(file))).triples((None, None, None)):
        graph.add(triple)
    (node,) = (
        found
        for found in graph.subjects(rdflib.RDF.type, SH.ValidationReport)
        if (None, rdflib.URIRef(MF.result.value), found) in graph
    )
    for result in graph.objects(node, SH.result):
        yield from result_of(graph, graph, result)


def result_of(graph: rdflib.Graph, paths: rdflib.Graph, result: rdflib.term.Node) -> Iterator[Result]:
    """A result of a report, but for those of severity sh:Info."""
    severity = graph.value(result, SH.resultSeverity)
    if severity == SH.Info:
        return
    path = graph.value(result, SH.resultPath)
    written = "" if path is None else text(parse_path(paths, path))
    nodes = [graph.value(result, p) for p in (SH.focusNode, SH.value, SH.sourceConstraintComponent)]
    focus, value, component = ("" if node is None else _name(node) for node in nodes)
    yield focus, written, value, component, str(severity)


def _name(node: rdflib.term.Node) -> str:
    return node.n3()


def anonymous(results: Iterable[Result]) -> set[Result]:
    """The results with all blank nodes alike, for comparing with those of another file."""
    return {tuple("_:" if part.startswith("_:") else part for part in one) for one in results}  # type: ignore[misc]


def of_whole(source: TripleSource, shapes: ShapesFiles) -> Counter[Result] | str:
    """What pySHACL itself finds over a copy of everything, or why it gives up."""
    copied = rdflib.Graph()
    for triple in DataGraph(source).triples((None, None, None)):
        copied.add(triple)
    shapes_graph = rdflib.Graph()
    for triple in shapes.graph:
        shapes_graph.add(triple)
    for prefix, namespace in shapes.graph.namespaces():
        copied.bind(prefix, namespace)
        shapes_graph.bind(prefix, namespace)
    try:
        _, report, _ = validate(copied, shacl_graph=shapes_graph, inplace=True)
    except NotImplementedError as error:
        return str(error)
    if not isinstance(report, rdflib.Graph):
        return str(report)
    results = report.objects(None, SH.result)
    return Counter(found for one in results for found in result_of(report, report, one))


def of_gate(violations: list[Violation]) -> Counter[Result]:
    """The gate's violations in the same form."""
    from shapes.graph import to_rdflib

    def name(term: object) -> str:
        node = None if term is None else to_rdflib(term)  # type: ignore[arg-type]
        return "" if node is None else _name(node)

    return Counter(
        (name(v.focus), v.path or "", name(v.value), name(v.component), v.severity.value) for v in violations
    )


def run(case: Case, engine: EngineName, splits: int) -> Outcome:
    """One change to an empty store, then several random ones after one another."""
    nothing = EmbeddedStore()
    whole = of_whole(Overlay(nothing, case.data), case.shapes)
    try:
        gate = ShapesGate(case.shapes, engine)
    except ShapesError as error:
        refused = isinstance(whole, str)
        note = f"the shapes are refused when they are read: {error}"
        return Outcome(
            case.name, _passes(case, whole), case.expected is None, 0, (note,), () if refused else (note,)
        )
    found = of_gate(gate.judge(nothing, case.data))
    notes: list[str] = []
    different: list[str] = []
    if isinstance(whole, str):
        cannot = [one for one in found if one[3].endswith("NotJudged>")]
        notes.append(f"pySHACL gives up; the gate refuses {len(cannot)} focus nodes as not to be judged")
        return Outcome(case.name, _passes(case, whole), bool(cannot), 0, tuple(notes), ())
    already = of_whole(nothing, case.shapes)
    assert not isinstance(already, str)
    if set(whole) & set(already):
        notes.append(f"{len(set(whole) & set(already))} results are there without any data")
    if set(found) != set(whole) - set(already):
        different.append(_difference(set(found), set(whole) - set(already)))
    elif sum(found.values()) != sum((whole - already).values()):
        notes.append("several results that read the same are one violation")
    everything = set(found) | (set(whole) & set(already))
    gate_passes = case.expected is not None and anonymous(everything) == anonymous(case.expected)
    steps = 0
    rng = random.Random(case.name)
    for _ in range(splits):
        steps += _in_steps(case, gate, rng, different)
    return Outcome(case.name, _passes(case, whole), gate_passes, steps, tuple(notes), tuple(different))


def _passes(case: Case, whole: Counter[Result] | str) -> bool:
    if case.expected is None or isinstance(whole, str):
        return case.expected is None and isinstance(whole, str)
    return anonymous(whole) == anonymous(case.expected)


def _in_steps(case: Case, gate: ShapesGate, rng: random.Random, differences: list[str]) -> int:
    """Random changes that end in the whole; removals too. How many there were."""
    store = EmbeddedStore()
    before = of_whole(store, case.shapes)
    left, held = set(case.data), set[Triple]()
    steps = 0
    while left:
        last = steps >= _CHANGES - 1
        some = {triple for triple in sorted(left, key=str) if last or rng.random() < 0.5} or left
        # Removals in the second change only: with some in each, what is left would never come to an end.
        gone = frozenset(triple for triple in sorted(held, key=str) if steps == 1 and rng.random() < 0.1)
        after = of_whole(Overlay(store, some, gone), case.shapes)
        if isinstance(before, str) or isinstance(after, str):
            return steps
        found = set(of_gate(gate.judge(store, some, gone)))
        if found != set(after) - set(before):
            differences.append(f"change {steps + 1}: {_difference(found, set(after) - set(before))}")
        store.commit([Quad(*triple) for triple in some], [Quad(*triple) for triple in gone])
        left = (left - some) | gone
        held = (held | some) - gone
        before, steps = after, steps + 1
    return steps


def _difference(found: set[Result], wanted: set[Result]) -> str:
    return f"missed {sorted(wanted - found)}; too many {sorted(found - wanted)}"


def table(outcomes: list[Outcome], engine: str) -> list[str]:
    """Markdown: counts per folder, then every test with something to say."""
    folders = sorted({one.name.rpartition("/")[0] for one in outcomes})
    lines = [
        f"Engine: `{engine}`. Passed: all results of the test and no others.",
        "",
        "| suite | tests | passed by pySHACL | passed by the gate | random changes | as pySHACL |",
        "|---|---|---|---|---|---|",
    ]
    for folder in [*folders, "all"]:
        some = [one for one in outcomes if folder == "all" or one.name.rpartition("/")[0] == folder]
        steps = sum(one.steps for one in some)
        wrong = sum(len(one.differences) for one in some)
        lines.append(
            f"| {folder} | {len(some)} | {sum(one.whole_passes for one in some)} "
            f"| {sum(one.gate_passes for one in some)} | {steps} | {steps - wrong} |"
        )
    lines += ["", "Tests with something to say:", ""]
    for one in outcomes:
        remarks = [*one.notes, *([_WHY[one.name]] if one.name in _WHY else []), *one.differences]
        if not one.whole_passes:
            remarks.insert(0, "pySHACL does not pass" + ("" if one.gate_passes else ", so the gate does not"))
        elif not one.gate_passes:
            remarks.insert(0, "the gate does not pass")
        if remarks:
            lines.append(f"- `{one.name}`: " + "; ".join(remarks))
    return lines


if __name__ == "__main__":
    sys.exit(main())
