"""Which queries read the graph and one that is kept beside it, told from their text."""

import pytest

from sparql.remote.capabilities import reads_beside

BESIDE = "urn:x:beside"
PREFIX = "PREFIX b: <urn:x:> PREFIX : <http://e.org/> "


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT * {{ GRAPH <{BESIDE}> {{ ?s ?p ?o }} }}", False),
        ("SELECT * WHERE { GRAPH b:beside { ?s ?p ?o FILTER(?o > 3) } FILTER(?s != :a) }", False),
        ("SELECT ?s (COUNT(?o) AS ?n) { GRAPH b:beside { ?s ?p ?o } } GROUP BY ?s ORDER BY ?n", False),
        ("SELECT * { { SELECT ?s { GRAPH b:beside { ?s ?p ?o } } GROUP BY ?s } }", False),
        ("SELECT * { VALUES ?g { b:beside } GRAPH ?g { ?s ?p ?o } }", False),
        ("SELECT * { VALUES (?s ?t) { (:a :b) } GRAPH b:beside { ?s ?p ?t } BIND(STR(?s) AS ?x) }", False),
        ("CONSTRUCT { ?s :p ?o } WHERE { GRAPH b:beside { ?s ?p ?o } }", False),
        ("SELECT * { GRAPH b:beside { ?r :reifies <<( ?s ?p ?o )>> } ?s ?p ?o }", True),
        ("SELECT * { ?s ?p ?o . GRAPH b:beside { ?r :reifies <<( ?s ?p ?o )>> } }", True),
        ("SELECT * { GRAPH b:beside { ?s ?p ?o } OPTIONAL { ?o a :Park } }", True),
        ("SELECT * { GRAPH b:beside { ?s ?p ?o } FILTER(?o > 3) ?s :name ?n }", True),
        ("SELECT * { GRAPH b:beside { ?s ?p ?o } FILTER EXISTS { ?s a :Park } }", True),
        ("SELECT * { GRAPH b:beside { ?s ?p ?o } GRAPH :other { ?s ?q ?r } }", True),
        ("SELECT * { GRAPH b:beside { ?s ?p ?o } { SELECT ?s { ?s a :Park } } }", True),
    ],
)
def test_patterns_outside_the_graph_are_found(query: str, expected: bool):
    assert reads_beside(PREFIX + query, {BESIDE}) is expected
