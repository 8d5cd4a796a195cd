"""Evaluation tests: a query's answer, or what an update leaves, against what the suite expects."""

from __future__ import annotations

import re

import pyoxigraph
from pyoxigraph import NamedNode, Quad

from benchmarks.w3c.elsewhere import Elsewhere
from benchmarks.w3c.engine import Document, Engine, read_document
from benchmarks.w3c.manifest import HOME, MF, QT, RDFS, UT, Node, Test, local_copy
from benchmarks.w3c.matching import Row, same_rows
from benchmarks.w3c.results import answer_format, difference, difference_of_rows, read_answer
from sparql.model.errors import SparqlError
from sparql.syntax.request_facts import facts_of

_ORDER_BY = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)


async def run_query_test(engine: Engine, test: Test) -> str | None:
    """Why a query evaluation test fails; None if it passes."""
    action = test.action
    query = action.one(QT + "query") or action
    text = test.file(query).read_text(encoding="utf-8")
    engine.load(_dataset_of_query(test, text))
    engine.elsewhere = Elsewhere(_endpoints(test))
    assert test.result is not None, f"{test.name} expects nothing"
    expected_file = test.file(test.result)
    form = facts_of(text).form
    graph = form is not None and form.gives_graph
    try:
        data = await engine.query(text, query.text, answer_format(expected_file))
    except SparqlError as error:
        return f"{type(error).__name__}: {error}"
    suffix = ".nt" if graph else "." + _SUFFIXES[answer_format(expected_file)]
    expected = read_answer(expected_file.read_bytes(), expected_file.suffix, test.result.text, graph=graph)
    return difference(
        expected,
        read_answer(data, suffix, graph=graph),
        ordered=_is_ordered(text) and expected_file.suffix in (".srx", ".srj"),
        lax=any(one.text == MF + "LaxCardinality" for one in test.entry.all(MF + "resultCardinality")),
    )


def _is_ordered(text: str) -> bool:
    """Whether the outermost query has an ORDER BY: behind its pattern."""
    return _ORDER_BY.search(text.rpartition("}")[2]) is not None


_SUFFIXES = {"xml": "srx", "json": "srj", "tsv": "tsv", "csv": "csv"}


async def run_update_test(engine: Engine, test: Test) -> str | None:
    """Why an update evaluation test fails; None if it passes."""
    action, result = test.action, test.result
    assert result is not None, f"{test.name} expects nothing"
    engine.load(_dataset_of_update(test, action))
    request = action.one(UT + "request")
    assert request is not None, f"{test.name} has no request"
    try:
        verdict = await engine.update(test.file(request).read_text(encoding="utf-8"), request.text)
    except SparqlError as error:
        return f"{type(error).__name__}: {error}"
    if not verdict.conforms:
        return f"refused: {verdict.rejected[0].violations[0].message}"
    expected = [_row(quad) for one in _dataset_of_update(test, result) for quad in read_document(one)]
    actual = [_row(quad) for quad in engine.quads()]
    if same_rows(list(dict.fromkeys(expected)), actual):
        return None
    return difference_of_rows(expected, actual)


def _row(quad: Quad) -> Row:
    graph = quad.graph_name
    return (quad.subject, quad.predicate, quad.object, graph if isinstance(graph, NamedNode) else None)


def _dataset_of_query(test: Test, text: str) -> list[Document]:
    action = test.action
    found = [Document(test.file(node), node.text) for node in action.all(QT + "data")]
    for node in action.all(QT + "graphData"):
        # SPARQL 1.1 suites name a graph that is not called as its file is.
        file = node.one(QT + "graph") or node
        label = node.one(RDFS + "label")
        found.append(Document(test.file(file), file.text, NamedNode((label or file).text)))
    if not found:
        found = [Document(local_copy(test.root, iri), iri, NamedNode(iri)) for iri in _named_in(test, text)]
    return sorted(found, key=lambda one: (one.iri, str(one.graph)))


def _endpoints(test: Test) -> dict[str, pyoxigraph.Store]:
    """The endpoints that a test expects elsewhere, with their data."""
    found = {}
    for node in test.action.all(QT + "serviceData"):
        endpoint = node.one(QT + "endpoint")
        assert endpoint is not None, f"{test.name} has data for no endpoint"
        found[endpoint.text] = pyoxigraph.Store()
        for file in node.all(QT + "data"):
            found[endpoint.text].extend(read_document(Document(test.file(file), file.text)))
    return found


def _named_in(test: Test, text: str) -> list[str]:
    """The files that FROM and FROM NAMED name: a test without data expects that they are there."""
    folder = HOME + test.suite + "/"
    names = re.findall(r"FROM\s+(?:NAMED\s+)?<([^>]*)>", text, re.IGNORECASE)
    iris = sorted({name if ":" in name else folder + name for name in names})
    return [iri for iri in iris if local_copy(test.root, iri).is_file()]


def _dataset_of_update(test: Test, node: Node) -> list[Document]:
    found = [Document(test.file(one), one.text) for one in node.all(UT + "data")]
    for one in node.all(UT + "graphData"):
        file, label = one.one(UT + "graph"), one.one(RDFS + "label")
        if file is None or label is None:
            continue
        found.append(Document(test.file(file), file.text, NamedNode(label.text)))
    return sorted(found, key=lambda one: (one.iri, str(one.graph)))
