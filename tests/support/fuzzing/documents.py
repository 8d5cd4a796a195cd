"""Documents and queries that nest without end, or grow when they are read."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from tests.support.fuzzing.wire import Exchange, once, request

DEPTHS = (99, 2_000)
DEEPER = 100_000
_MUST_BE_REFUSED = ("application/ld+json", "application/rdf+xml")


def rdf(depth: int) -> Iterator[tuple[str, str, bytes]]:
    """RDF that nests so deep, as (what, media type, body)."""
    turtle = "text/turtle"
    yield "blank nodes", turtle, b"<a:a> <a:b> " + b"[ <a:b> " * depth + b"1" + b" ]" * depth + b" ."
    yield "lists", turtle, b"<a:a> <a:b> " + b"( " * depth + b")" * depth + b" ."
    yield (
        "triple terms",
        turtle,
        b"<a:a> <a:b> " + b"<<( <a:a> <a:b> " * depth + b"1" + b" )>>" * depth + b" .",
    )
    yield "reified triples", turtle, b"<< <a:a> <a:b> " * depth + b"1" + b" >>" * depth + b" <a:b> 1 ."
    yield "annotations", turtle, b"<a:a> <a:b> 1 " + b"{| <a:b> 1 " * depth + b"|}" * depth + b" ."
    yield "open brackets", turtle, b"<a:a> <a:b> " + b"[" * depth
    yield "a long list", turtle, b"<a:a> <a:b> ( " + b"1 " * depth + b") ."
    yield "an open string", turtle, b'<a:a> <a:b> """' + b"a" * depth * 10
    yield "a long IRI", turtle, b"<a:a> <a:b> <a:" + b"a" * depth * 10 + b"> ."
    yield "many prefixes", turtle, b"".join(b"@prefix p%d: <a:%d> .\n" % (n, n) for n in range(depth))
    yield "relative bases", turtle, b"@base <http://e/a/> .\n" + b"@base <a/> .\n" * min(depth, 5000)
    yield "graphs", "application/trig", b"<a:g> { <a:a> <a:b> " + b"[ <a:b> " * depth + b"] " * depth + b"}"
    yield "graphs in graphs", "application/trig", b"{ " * depth
    nested = b"<< <a:a> <a:b> " * depth + b"<a:c>" + b" >>" * depth + b" <a:b> <a:c> ."
    yield "quoted triples", "application/n-triples", nested
    terms = b"<a:a> <a:b> " + b"<<( <a:a> <a:b> " * depth + b"<a:c>" + b" )>>" * depth + b" ."
    yield "triple terms", "application/n-quads", terms
    yield "formulas", "text/n3", b"{ " * depth + b"<a:a> <a:b> <a:c>" + b" }" * depth + b" ."
    yield "paths", "text/n3", b"<a:a>" + b"!<a:b>" * depth + b" <a:b> <a:c> ."
    json_ld = "application/ld+json"
    yield "objects", json_ld, b'{"a:b":' * depth + b"1" + b"}" * depth
    yield "arrays", json_ld, b'{"a:b":' + b"[" * depth + b"]" * depth + b"}"
    yield "lists", json_ld, b'{"a:b":' + b'{"@list":[' * depth + b"]}" * depth + b"}"
    yield "graphs", json_ld, b'{"@graph":[' * depth + b"]}" * depth
    yield "contexts", json_ld, b'{"@context":[' + b'{"a":"http://e/"},' * depth + b'{}],"a:b":1}'
    yield "a context in itself", json_ld, b'{"@context":{"a":"b:c","b":"a:c"},"a:x":1}'
    yield "a remote context", json_ld, b'{"@context":"http://127.0.0.1:1/c","a:x":1}'
    xml = "application/rdf+xml"
    root = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
    yield (
        "elements",
        xml,
        root + b"<rdf:Description><e:p>" * depth + b"</e:p></rdf:Description>" * depth + b"</rdf:RDF>",
    )
    resources = b"<e:p rdf:parseType='Resource'>" * depth + b"</e:p>" * depth
    yield "resources", xml, root + b"<rdf:Description>" + resources + b"</rdf:Description></rdf:RDF>"
    literal = b"<e:p rdf:parseType='Literal'>" + b"<e:a>" * depth + b"</e:a>" * depth + b"</e:p>"
    yield "a literal", xml, root + b"<rdf:Description>" + literal + b"</rdf:Description></rdf:RDF>"
    yield "open elements", xml, root + b"<e:a>" * depth
    yield (
        "many attributes",
        xml,
        root + b"<e:a " + b" ".join(b'e:a%d="1"' % n for n in range(depth)) + b"/></rdf:RDF>",
    )
    entities = b"".join(b'<!ENTITY e%d "&e%d;&e%d;">' % (n + 1, n, n) for n in range(min(depth, 60)))
    laughs = b'<!DOCTYPE a [<!ENTITY e0 "ha">' + entities + b"]>" + root + b"<e:a e:b='&e%d;'/></rdf:RDF>"
    yield "entities", xml, laughs % min(depth, 60)
    outside = b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + root + b"<e:a e:b='&e;'/></rdf:RDF>"
    yield "an outside entity", xml, outside


def graph_documents() -> Iterator[Exchange]:
    """Each of them into the graph store, and to the candidates."""
    for depth in (*DEPTHS, DEEPER):
        for what, kind, body in rdf(depth):
            if depth == DEEPER and kind not in _MUST_BE_REFUSED and what != "triple terms":
                # Deep and sound, so it only takes its time.
                continue
            label = f"{what} {depth} {kind}"
            headers = {"Content-Type": kind}
            graph = f"/store?graph={quote('http://example.org/deep', safe='')}"
            yield once(f"PUT {label}", request("PUT", graph, headers, body), "PUT")
            default = request("POST", "/store?default&partial=true", headers, body)
            yield once(f"POST ?default {label}", default, "POST")
            yield once(f"candidates {label}", request("POST", "/candidates", headers, body), "POST")


def sparql(depth: int) -> Iterator[tuple[str, str]]:
    """Queries that nest so deep, or chain so many operators."""
    yield "groups", "SELECT * WHERE " + "{" * depth + "}" * depth
    yield "open groups", "SELECT * WHERE " + "{" * depth
    yield "subqueries", "SELECT * WHERE " + "{ SELECT * WHERE " * depth + "{}" + "}" * depth
    yield "parentheses", "SELECT * WHERE { FILTER" + "(" * depth + "1" + ")" * depth + "}"
    yield "unions", "SELECT * WHERE { {}" + " UNION {}" * depth + "}"
    yield "optionals", "SELECT * WHERE { " + "OPTIONAL { " * depth + "}" * depth + "}"
    yield "ors", "SELECT * WHERE { FILTER(1" + " || 1" * depth + ") }"
    yield "nots", "SELECT * WHERE { FILTER(" + "!" * depth + "true) }"
    yield "minuses", "SELECT (" + "-" * depth + "1 AS ?a) WHERE {}"
    yield "sums", "SELECT (1" + "+1" * depth + " AS ?a) WHERE {}"
    yield "calls", "SELECT (" + "STR(" * depth + "1" + ")" * depth + " AS ?a) WHERE {}"
    yield "existences", "SELECT * WHERE { " + "FILTER EXISTS { " * depth + "}" * depth + "}"
    yield "paths", "SELECT * WHERE { ?s " + "(" * depth + "<a:a>" + ")*" * depth + " ?o }"
    yield "sequences", "SELECT * WHERE { ?s <a:a>" + "/<a:a>" * depth + " ?o }"
    yield "alternatives", "SELECT * WHERE { ?s <a:a>" + "|<a:a>" * depth + " ?o }"
    yield "inverses", "SELECT * WHERE { ?s " + "^" * depth + "<a:a> ?o }"
    yield "lists", "SELECT * WHERE { ?s ?p " + "(" * depth + ")" * depth + " }"
    yield "blank nodes", "SELECT * WHERE { ?s ?p " + "[ <a:a> " * depth + "1" + "]" * depth + " }"
    yield "triple terms", "SELECT * WHERE { ?s ?p " + "<<( ?a ?b " * depth + "?c" + " )>>" * depth + " }"
    yield "values", "SELECT * WHERE { VALUES ?a { " + "1 " * depth + "} }"
    yield "binds", "SELECT * WHERE { " + "".join(f"BIND({n} AS ?v{n}) " for n in range(depth)) + "}"
    yield "joins", "SELECT * WHERE { " + "".join(f"?v{n} <a:a> ?v{n + 1} . " for n in range(depth)) + "}"
    yield "an IN", "SELECT * WHERE { FILTER(1 IN (" + "2," * depth + "3)) }"
    yield "a regular expression", "ASK { FILTER(REGEX('a', '" + "(a*)*" * depth + "')) }"
    yield "a pattern that grows", "ASK { FILTER(REGEX('a', '" + "(?:" * 30 + "a" + "{1000})" * 30 + "')) }"
    yield (
        "a replacement that grows",
        "SELECT (REPLACE('" + "a" * depth + "', 'a', '" + "$0" * 1000 + "') AS ?a) {}",
    )
    yield "graphs", "SELECT * WHERE { " + "GRAPH ?g { " * depth + "}" * depth + "}"
    yield "services", "SELECT * WHERE { " + "SERVICE <http://127.0.0.1:1/> { " * depth + "}" * depth + "}"
    yield "a long name", "SELECT ?" + "a" * depth + " WHERE {}"
    yield "prefixes", "".join(f"PREFIX p{n}: <a:{n}> " for n in range(depth)) + "ASK {}"
    yield "escapes", "SELECT * WHERE { ?s ?p '" + "\\u0041" * depth + "' }"
    yield "open string", "SELECT * WHERE { ?s ?p '''" + "a" * depth
    yield "big numbers", "SELECT (" + "9" * depth + " AS ?a) (1e" + "9" * depth + " AS ?b) {}"
    yield "a big limit", "SELECT * WHERE { ?s ?p ?o } LIMIT " + "9" * min(depth, 1000)
    yield "a surrogate", "SELECT ('\\uD800' AS ?a) {}"
    yield "a NUL", "SELECT ('\x00\\u0000' AS ?a) {}"


def updates(depth: int) -> Iterator[tuple[str, str]]:
    """Updates that nest so deep."""
    for what, text in sparql(depth):
        where = text.partition("WHERE")[2]
        if where:
            yield f"where {what}", "INSERT { <a:a> <a:b> <a:c> } WHERE " + where
    yield "data lists", "INSERT DATA { <a:a> <a:b> " + "(" * depth + ")" * depth + " }"
    yield "data blank nodes", "INSERT DATA { <a:a> <a:b> " + "[ <a:b> " * depth + "1" + "]" * depth + " }"
    yield (
        "data triple terms",
        "INSERT DATA { <a:a> <a:b> " + "<<( <a:a> <a:b> " * depth + "1" + " )>>" * depth + " }",
    )
    yield "data graphs", "INSERT DATA { " + "GRAPH <a:g> { " * depth + "}" * depth + " }"
    yield "many operations", "CLEAR SILENT GRAPH <a:g> ;" * min(depth, 2000) + "CLEAR SILENT GRAPH <a:g>"
    yield "a surrogate", "INSERT DATA { <a:a> <a:b> '\\uD800' }"
    yield "a NUL", "INSERT DATA { <a:a> <a:b> 'a\\u0000b' }"


def queries() -> Iterator[Exchange]:
    """Each of them as a query and as an update, directly and as a form."""
    for depth in (*DEPTHS, 20_000):
        for what, text in sparql(depth):
            body = text.encode("utf-8", "surrogatepass")
            headers = {"Content-Type": "application/sparql-query"}
            yield once(f"query {what} {depth}", request("POST", "/sparql?timeout=5", headers, body), "POST")
        for what, text in updates(depth):
            body = b"timeout=5&update=" + quote(text).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            yield once(f"update {what} {depth}", request("POST", "/update", headers, body), "POST")
