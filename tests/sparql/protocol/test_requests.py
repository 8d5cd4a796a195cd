from urllib.parse import quote, urlencode

import pytest
from pyoxigraph import NamedNode

from sparql.model.errors import MalformedRequest, UnsupportedMediaType
from sparql.protocol.requests import DIRECT_QUERY, DIRECT_UPDATE, FORM, read_request
from sparql.syntax.request_facts import Kind

QUERY = "SELECT ?s WHERE { ?s ?p 'é' }"
UPDATE = "INSERT DATA { <http://e/a> <http://e/b> 1 }"


def test_a_query_can_be_sent_by_get() -> None:
    request = read_request("GET", urlencode({"query": QUERY}), None, b"")
    assert request is not None
    assert (request.kind, request.text) == (Kind.QUERY, QUERY)


def test_a_query_can_be_sent_as_a_form() -> None:
    request = read_request("POST", "", f"{FORM}; charset=UTF-8", urlencode({"query": QUERY}).encode())
    assert request is not None
    assert request.text == QUERY


def test_a_query_can_be_sent_as_the_body() -> None:
    request = read_request("POST", "timeout=2.5&format=csv", DIRECT_QUERY, QUERY.encode())
    assert request is not None
    assert (request.text, request.timeout_s, request.formats) == (QUERY, 2.5, ("csv",))


def test_an_update_can_be_sent_as_a_form_or_as_the_body() -> None:
    form = read_request("POST", "", FORM, urlencode({"update": UPDATE}).encode())
    direct = read_request("POST", "", DIRECT_UPDATE, UPDATE.encode())
    assert form == direct
    assert form is not None
    assert form.kind is Kind.UPDATE


def test_a_bare_get_asks_for_the_service_description() -> None:
    assert read_request("GET", "", None, b"") is None


def test_the_dataset_of_a_query_is_read_in_order() -> None:
    parameters = [
        ("query", QUERY),
        ("default-graph-uri", "http://e/1"),
        ("default-graph-uri", "http://e/2"),
        ("named-graph-uri", "http://e/3"),
    ]
    for request in (
        read_request("GET", urlencode(parameters), None, b""),
        read_request("POST", "", FORM, urlencode(parameters).encode()),
        read_request("POST", urlencode(parameters[1:]), DIRECT_QUERY, QUERY.encode()),
    ):
        assert request is not None
        assert request.default_graphs == (NamedNode("http://e/1"), NamedNode("http://e/2"))
        assert request.named_graphs == (NamedNode("http://e/3"),)
        assert request.has_dataset


def test_the_dataset_of_an_update_has_its_own_names() -> None:
    request = read_request("POST", "using-graph-uri=http://e/1", DIRECT_UPDATE, UPDATE.encode())
    assert request is not None
    assert request.default_graphs == (NamedNode("http://e/1"),)
    with pytest.raises(MalformedRequest, match="using-graph-uri"):
        read_request("POST", "default-graph-uri=http://e/1", DIRECT_UPDATE, UPDATE.encode())


@pytest.mark.parametrize(
    ("method", "query_string", "content_type", "body", "fix"),
    [
        ("GET", "query=ASK{}&query=ASK{}", None, b"", "send it once"),
        ("GET", "update=CLEAR+ALL", None, b"", "by POST"),
        ("GET", "query=%FF%FE", None, b"", "UTF-8"),
        ("GET", "default-graph-uri=http://e/1", None, b"", "query is missing"),
        ("GET", "query=ASK{}&default-graph-uri=not+an+iri", None, b"", "absolute IRI"),
        ("GET", "query=ASK{}&timeout=soon", None, b"", "timeout=10"),
        ("GET", "query=ASK{}&timeout=-1", None, b"", "timeout=10"),
        ("GET", "query=ASK{}&timeout=inf", None, b"", "timeout=10"),
        ("POST", "", FORM, b"", "neither a query nor an update"),
        ("POST", "", FORM, b"query=ASK{}&update=CLEAR+ALL", "one of them"),
        ("POST", "query=ASK{}", FORM, b"query=ASK{}", "send it once"),
        ("POST", "query=ASK{}", DIRECT_QUERY, b"ASK{}", "leave query out"),
        ("POST", "", DIRECT_QUERY, "ASK { ?s ?p 'é' }".encode("utf-16"), "UTF-8"),
        ("POST", "", FORM, b"query=" + quote("é", encoding="latin-1").encode(), "UTF-8"),
    ],
)
def test_a_malformed_request_gets_a_suggested_fix(
    method: str, query_string: str, content_type: str | None, body: bytes, fix: str
) -> None:
    with pytest.raises(MalformedRequest, match=fix):
        read_request(method, query_string, content_type, body)


@pytest.mark.parametrize("content_type", [None, "text/plain", f"{DIRECT_QUERY}; charset=utf-16"])
def test_a_body_of_another_type_is_refused_with_the_types_that_are_read(content_type: str | None) -> None:
    with pytest.raises(UnsupportedMediaType, match=DIRECT_UPDATE):
        read_request("POST", "", content_type, b"ASK {}")
