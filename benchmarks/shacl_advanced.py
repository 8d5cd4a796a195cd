"""Runs the tests of pySHACL's own suite for SHACL Advanced Features.

    python -m benchmarks.shacl_advanced --suite PLACE [--write FILE]

PLACE is a folder with pySHACL's source distribution, or the distribution itself. The tests are those of
rules, targets, node expressions and functions. One of rules passes if all that it expects is inferred; one of
validation if the gate has the results that it expects, by focus node and component. A failure counts with
what `urbankg check` says of the shapes. Ends with 1 where a test fails without such a cause. The table is
added to FILE, in place of the one that is there.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import rdflib
from pyoxigraph import RdfFormat, Triple, parse
from rdflib.namespace import RDF, SH

from shapes.authoring.syntax import unsupported
from shapes.errors import ShapesError
from shapes.gate.gate import ShapesGate
from shapes.graph import to_oxigraph, to_rdflib
from shapes.loading import shapes_of
from shapes.shape_rules import not_run, shape_rules
from sparql.inference.materialized import Inferences
from sparql.model.change import Change, Statement
from sparql.model.errors import RequestError
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import INFERRED
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer

DASH = rdflib.Namespace("http://datashapes.org/dash#")
FOLDERS = ("rules/sparql", "rules/triple", "target", "expression", "function")
_TITLE = "## SHACL Advanced Features"


@dataclass(frozen=True)
class Outcome:
    """One test: whether it passes, and why not."""

    name: str
    passes: bool
    causes: tuple[str, ...] = ()


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, required=True, help="the distribution, or a folder with it")
    parser.add_argument("--write", type=Path, help="a Markdown file for the table")
    arguments = parser.parse_args()
    packed = arguments.suite
    if packed.is_dir():
        packed = max(packed.glob("pyshacl-*.tar.gz"), default=packed)
    if not packed.is_file():
        print(f"There is no source distribution of pySHACL at {arguments.suite}.", file=sys.stderr)
        return 2
    outcomes = [run(name, text) for name, text in tests(packed)]
    lines = table(outcomes, packed.name.removesuffix(".tar.gz"))
    print("\n".join(lines))
    if arguments.write is not None:
        known = arguments.write.read_text(encoding="utf-8") if arguments.write.is_file() else ""
        kept = known.partition(_TITLE)[0].rstrip()
        arguments.write.write_text("\n".join([kept, "", *lines, ""]), encoding="utf-8")
    return 1 if not outcomes or any(not one.passes and not one.causes for one in outcomes) else 0


def tests(packed: Path) -> list[tuple[str, bytes]]:
    """The names and the contents of the tests."""
    found = []
    with tarfile.open(packed) as archive:
        for member in archive.getmembers():
            _, _, name = member.name.partition("/dash_tests/")
            if name.endswith(".test.ttl") and name.startswith(FOLDERS):
                file = archive.extractfile(member)
                assert file is not None, member.name
                found.append((name.removesuffix(".test.ttl"), file.read()))
    return sorted(found)


def run(name: str, content: bytes) -> Outcome:
    """Run the test case of a file, whose data and shapes are the same graph."""
    shapes = shapes_of([(Path("test.ttl"), content)])
    graph = shapes.graph
    triples = [quad.triple for quad in parse(content, RdfFormat.TURTLE)]
    causes = tuple(
        dict.fromkeys(f"{one.feature} is unsupported{one.why}" for one in unsupported(graph, not_run(graph)))
    )
    case = next(
        (one for kind in ("InferencingTestCase", "GraphValidationTestCase", "FunctionTestCase")
         for one in graph.subjects(RDF.type, DASH[kind])), None
    )  # fmt: skip
    if case is None:
        return Outcome(name, False, causes or ("the file has no test case",))
    expected = list(graph.objects(case, DASH.expectedResult))
    try:
        if (case, RDF.type, DASH.InferencingTestCase) in graph:
            passes = wanted(graph, expected) <= inferred(graph, triples)
        elif (case, RDF.type, DASH.GraphValidationTestCase) in graph:
            passes = all(results(graph, one) == judged(ShapesGate(shapes), triples) for one in expected)
        else:
            passes = False
    except (ShapesError, RequestError) as error:
        return Outcome(name, False, causes or (str(error).splitlines()[0],))
    return Outcome(name, passes, () if passes else causes)


def wanted(graph: rdflib.Graph, expected: list[rdflib.term.Node]) -> set[Triple]:
    """The triples that a test of rules expects."""
    parts = (RDF.subject, RDF.predicate, RDF.object)
    return {
        Triple(*(to_oxigraph(graph.value(one, part)) for part in parts))  # type: ignore[arg-type]
        for one in expected
    }


def inferred(graph: rdflib.Graph, triples: list[Triple]) -> set[Triple]:
    """What is inferred when the graph is written."""
    store = EmbeddedStore()
    writer = Writer(store, inferences=Inferences(store, 100_000, shape_rules(graph)))
    writer.start()
    writer.commit(Change(additions=tuple(map(Statement, triples))))
    return {quad.triple for quad in store.match_quads(None, None, None, INFERRED)}


def results(graph: rdflib.Graph, report: rdflib.term.Node) -> set[tuple[str, str]]:
    """Focus node and component of each result that a test expects."""
    return {
        (graph.value(one, SH.focusNode).n3(), str(graph.value(one, SH.sourceConstraintComponent)))  # type: ignore[union-attr]
        for one in graph.objects(report, SH.result)
    }


def judged(gate: ShapesGate, triples: list[Triple]) -> set[tuple[str, str]]:
    """The same of what the gate finds."""
    found = gate.report(TripleIndex(triples))
    return {(to_rdflib(one.focus).n3(), one.component.value) for one in found}  # type: ignore[union-attr]


def table(outcomes: list[Outcome], suite: str) -> list[str]:
    """The table, and each failure with its causes."""
    lines = [_TITLE, "", f'The tests of {suite}, with `inference = "rules"`.', ""]
    lines += ["| tests | number | passed |", "|---|---|---|"]
    for folder in FOLDERS:
        of_it = [one for one in outcomes if one.name.startswith(folder + "/")]
        lines.append(f"| {folder} | {len(of_it)} | {sum(one.passes for one in of_it)} |")
    lines.append(f"| all | {len(outcomes)} | {sum(one.passes for one in outcomes)} |")
    failed = [one for one in outcomes if not one.passes]
    if failed:
        lines += ["", "Failures:", ""]
        lines += [f"- `{one.name}`: {'; '.join(one.causes) or 'unexplained'}" for one in failed]
    return lines


if __name__ == "__main__":
    sys.exit(main())
