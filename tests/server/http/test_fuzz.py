"""A part of the fuzz of the HTTP interface, the same one every time: `make fuzz` sends all of it."""

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.fuzzing.slow import stalled
from tests.support.fuzzing.target import Target, protocol, target
from tests.support.fuzzing.uploads import damaged_uploads
from tests.support.fuzzing.wire import exchange, once, request


@pytest.fixture(scope="module")
def server() -> Iterator[Target]:
    with target() as found:
        yield found


def test_nothing_that_is_sent_makes_the_server_fail_or_hang(server: Target):
    protocol(server, share=0.03, seed=3)
    assert server.ledger.failures == []
    assert server.ledger.cases > 100


def test_a_client_that_stops_reading_is_let_go(server: Target):
    stalled(server.url, server.ledger)
    server.check("stalled")
    assert server.ledger.failures == []


def test_no_damaged_file_makes_the_server_fail_or_leaves_a_part_of_itself():
    with target(keyed=True) as server:
        damaged_uploads(server, 84, seed=5)
        assert server.ledger.failures == []
        statuses = {answer.status for found in server.ledger.answers.values() for _, answer in found}
        assert statuses & {200, 201, 202, 204}
        assert statuses & {400, 422}


def status_of(server: Target, data: bytes) -> int | None:
    return exchange(server.url, once("", data))[0].status


def test_a_document_whose_entities_grow_without_end_is_refused(server: Target):
    entities = b"".join(b'<!ENTITY e%d "&e%d;&e%d;">' % (n + 1, n, n) for n in range(40))
    root = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
    body = b'<!DOCTYPE a [<!ENTITY e0 "ha">' + entities + b"]>" + root + b"<e:a e:b='&e40;'/></rdf:RDF>"
    kind = {"Content-Type": "application/rdf+xml"}
    for target_ in ("/candidates", "/store?graph=http://e/g"):
        assert status_of(server, request("POST", target_, kind, body)) == 400


def test_half_a_surrogate_pair_and_a_nul_are_reported_and_not_stumbled_over(server: Target):
    kind = {"Content-Type": "application/json"}
    half = request("POST", "/extractions", kind, b'{"text": "\\ud800"}')
    assert status_of(server, half) == 400
    assert status_of(server, request("POST", "/loads", kind, b'{"files": ["/a\\u0000"]}')) == 422
    assert status_of(server, request("GET", "/ontology?iri=")) == 404


def test_a_request_without_one_host_is_refused(server: Target):
    for hosts in (b"", b"Host: a\r\nHost: b\r\n"):
        data = b"GET /healthz HTTP/1.1\r\n" + hosts + b"\r\n"
        answer = exchange(server.url, once("", data))[0]
        assert answer.status == 400
        assert b"HTTP" in answer.body


def test_nonsense_behind_a_request_does_not_get_into_its_answer(server: Target):
    host = urlsplit(server.url)
    every = "/sparql?query=SELECT%20*%7B%3Fa%20%3Fb%20%3Fc.%3Fd%20%3Fe%20%3Ff%7D&timeout=1"
    with socket.create_connection((host.hostname or "", host.port or 80), timeout=60) as client:
        client.sendall(request("GET", every, {"Connection": "keep-alive"}) + b"\x00\x00\r\n\r\n")
        received = b""
        while piece := client.recv(65536):
            received += piece
    assert received.count(b"HTTP/1.1 ") <= 1


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for member in part.values():
            yield from references(member)
    elif isinstance(part, list):
        for member in part:
            yield from references(member)


def test_every_route_describes_how_it_answers_and_how_it_refuses(server: Target):
    described = httpx.get(server.url + "/openapi.json", timeout=60).json()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            answers = operation["responses"]
            assert "application/problem+json" in answers["default"]["content"], (method, path)
            assert any(status.startswith("2") for status in answers), (method, path)
    schemas = described["components"]["schemas"]
    missing = {one for one in references(described) if one.rpartition("/")[2] not in schemas}
    assert missing == set()
    form = described["paths"]["/sparql"]["post"]["requestBody"]["content"]
    assert "application/sparql-query" in form
    assert "update" in form["application/x-www-form-urlencoded"]["schema"]["properties"]
