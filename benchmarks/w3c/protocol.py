"""Protocol and graph store tests whose requests and expected responses are written in the ht: vocabulary."""

from __future__ import annotations

import http
import json
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from pyoxigraph import NamedNode

from benchmarks.w3c.engine import Document, read_document
from benchmarks.w3c.manifest import CNT, HT, MF, RDFS, UT, Node, Test
from benchmarks.w3c.matching import same_rows
from benchmarks.w3c.results import Graph, read_answer
from benchmarks.w3c.server_process import Answered, Server

_GRAPH_SUFFIXES = {
    "text/turtle": ".ttl",
    "application/n-triples": ".nt",
    "application/rdf+xml": ".rdf",
    "application/n-quads": ".nq",
    "application/trig": ".trig",
}
_TABULAR = ("text/csv", "text/tab-separated-values")
_RESULTS_XML = "{http://www.w3.org/2005/sparql-results#}"


@dataclass(frozen=True)
class Request:
    """What to send; ``target`` is a path with its query string."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None


def run_protocol_test(server: Server, test: Test) -> str | None:
    """Why a SPARQL Protocol test fails; None if it passes. Its data are at the graphs that it names."""
    server.update("DROP ALL")
    for node in test.entry.all(UT + "graphData"):
        file, label = node.one(UT + "graph"), node.one(RDFS + "label")
        assert file is not None, f"{test.name} names no file"
        assert label is not None, f"{test.name} names no graph"
        quads = read_document(Document(test.file(file), file.text))
        data = " ".join(f"{quad.triple} ." for quad in quads)
        server.update(f"INSERT DATA {{ GRAPH {NamedNode(label.text)} {{ {data} }} }}")
    return _run_connection(server, test, "/sparql/", "/sparql")


def run_graph_store_test(server: Server, test: Test) -> str | None:
    """Why a Graph Store Protocol test fails; None if it passes. The store is empty at first."""
    server.update("DROP ALL")
    return _run_connection(server, test, "/gsp", "/store")


def graph_difference(expected: bytes, media_type: str, answer: Answered) -> str | None:
    """What is wrong with a graph that was answered."""
    if answer.media_type not in _GRAPH_SUFFIXES:
        return f"no graph format: {answer.media_type}"
    wanted = read_answer(expected, _GRAPH_SUFFIXES[media_type], graph=True)
    found = read_answer(answer.body, _GRAPH_SUFFIXES[answer.media_type], graph=True)
    assert isinstance(wanted, Graph)
    assert isinstance(found, Graph)
    return None if same_rows(wanted.rows, found.rows) else f"another graph: {answer.body.decode()[:300]}"


def _run_connection(server: Server, test: Test, prefix: str, ours: str) -> str | None:
    requests = test.action.one(HT + "requests")
    assert requests is not None, f"{test.name} has no requests"
    variables: dict[str, str] = {}
    for number, node in enumerate(requests.items(), 1):
        request = _request(node, variables)
        target = ours + request.target.removeprefix(prefix)
        answer = server.send(request.method, target, request.headers, request.body)
        expected = node.one(HT + "resp")
        assert expected is not None, f"{test.name} expects nothing"
        problem = _problem(expected, answer)
        if problem is not None:
            return f"request {number} ({request.method} {target[:120]}): {problem}"
        location = expected.one(MF + "expectedLocation")
        if location is not None:
            variables[location.text] = answer.headers["location"]
    return None


def _request(node: Node, variables: Mapping[str, str]) -> Request:
    body = node.one(HT + "body")
    encoded = (
        None if body is None else _text(body, CNT + "chars").encode(_text(body, CNT + "characterEncoding"))
    )
    target = _text(node, HT + "absolutePath")
    for name, value in variables.items():
        target = target.replace(name, value)
        encoded = None if encoded is None else encoded.replace(name.encode(), value.encode())
    return Request(_text(node, HT + "methodName"), target, _headers(node), encoded)


def _headers(node: Node) -> dict[str, str]:
    listed = node.one(HT + "headers")
    items = [] if listed is None else list(listed.items())
    return {_text(one, HT + "fieldName"): _text(one, HT + "fieldValue") for one in items}


def _text(node: Node, predicate: str) -> str:
    found = node.one(predicate)
    assert found is not None, f"{predicate} is missing"
    return found.text


def _problem(expected: Node, answer: Answered) -> str | None:
    statuses = [one.text.rpartition("#")[2] for one in expected.all(MF + "expectedStatus")]
    if statuses and not any(_is_status(name, answer.status) for name in statuses):
        return f"expected {' or '.join(statuses)}, got {answer.status}: {answer.body.decode()[:200]}"
    format_ = expected.one(MF + "expectedFormat")
    if format_ is not None and (problem := _format_problem(format_.text, answer)) is not None:
        return problem
    boolean = expected.one(MF + "expectedBoolean")
    if boolean is not None and _boolean(answer) is not (boolean.text == "true"):
        return f"expected {boolean.text}, got {answer.body.decode()[:200]}"
    if expected.one(MF + "expectedLocation") is not None and "location" not in answer.headers:
        return "there is no Location header"
    headers = _headers(expected)
    for name, value in headers.items():
        given = answer.headers.get(name.lower(), "")
        if given.replace(" ", "").lower() != value.replace(" ", "").lower():
            return f"expected {name}: {value}, got {given}"
    body = expected.one(HT + "body")
    if body is None:
        return None
    media_type = headers.get("content-type", "text/turtle").partition(";")[0]
    return graph_difference(_text(body, CNT + "chars").encode(), media_type, answer)


def _is_status(name: str, status: int) -> bool:
    """Whether a status is `Created` or, for another, one of `StatusCode2xx`."""
    if name.startswith("StatusCode"):
        return status // 100 == int(name.removeprefix("StatusCode")[0])
    return http.HTTPStatus(status).phrase.replace(" ", "").lower() == name.lower()


def _format_problem(name: str, answer: Answered) -> str | None:
    media_type = answer.media_type
    table = media_type.startswith("application/sparql-results+")
    fits = {
        "boolean": table,
        "tabular": table or media_type in _TABULAR,
        "RDF": media_type in _GRAPH_SUFFIXES,
    }
    return None if fits[name] else f"expected a {name} format, got {media_type}"


def _boolean(answer: Answered) -> bool | None:
    if answer.media_type.endswith("+json"):
        found = json.loads(answer.body)["boolean"]
        return found if isinstance(found, bool) else None
    return ElementTree.fromstring(answer.body).findtext(_RESULTS_XML + "boolean") == "true"
