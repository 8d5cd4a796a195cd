"""Queries that are answered without a reader process: which they are, and that they say the same."""

import json
import re

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from sparql.protocol.formats import BY_NAME
from sparql.rewriting.lookups import Lookups

BASE = "http://localhost/sparql"
E = "http://e/"
JSON = BY_NAME["json"]


def store_of(size: int = 40) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    for number in range(size):
        subject = NamedNode(f"{E}s{number}")
        store.add(Quad(subject, NamedNode(E + "type"), NamedNode(E + "Place")))
        store.add(Quad(subject, NamedNode(E + "next"), NamedNode(f"{E}s{(number + 1) % size}")))
        store.add(Quad(subject, NamedNode(E + "name"), Literal(f"Place {number}")))
    return store


def answer(text: str, store: pyoxigraph.Store | None = None) -> bytes | None:
    graph = store or store_of()
    return Lookups(lambda: graph, BASE).answer(text, JSON)


LOOKUPS = [
    "SELECT ?p ?o WHERE { <http://e/s1> ?p ?o }",
    "select * { <http://e/s1> <http://e/name> ?o . }",
    "PREFIX e: <http://e/> SELECT ?n ?x { e:s1 e:name ?n ; e:next ?x }",
    "PREFIX e: <http://e/>\nPREFIX : <http://e/>\nSELECT * WHERE { e:s1 e:next ?x . :s2 e:next ?y, ?z }",
    "ASK { <http://e/s1> a <http://e/Place> }",
    'SELECT ?s { ?s <http://e/name> "Place 5" } LIMIT 3',
    'SELECT ?s { ?s <http://e/name> "Place 5"@en }',
    "PREFIX e: <http://e/> SELECT ?s { ?s e:name 'Place 5'^^e:x }",
    "SELECT ?s { ?s <http://e/next> <http://e/s4> } # the one before",
    "SELECT * { ?s ?p ?o } LIMIT 2",
    "SELECT ?s { ?s <http://e/size> 5 }",
    "SELECT * { <http://e/s1> ?p ?o } ORDER BY ?o",
    "PREFIX e: <http://e/> SELECT ?p ?n { e:s1 ?p ?o ; e:name ?n } order by DESC(?p) ?n asc(?o) LIMIT 2",
]


@pytest.mark.parametrize("text", LOOKUPS)
def test_a_lookup_is_answered_as_the_engine_answers_it(text: str) -> None:
    store = store_of()
    found = answer(text, store)
    assert found is not None
    # With the columns in the order of the text.
    query = text.replace("*", " ".join(sorted(set(re.findall("[?][a-z]", text)), key=text.index)))
    expected = store.query(query, base_iri=BASE).serialize(format=JSON.engine)
    assert json.loads(found) == json.loads(expected or b"")


NO_LOOKUPS = [
    "SELECT * { ?s ?p ?o }",
    "SELECT * { ?s <http://e/name> ?o }",
    "SELECT * { ?s ?p ?o } LIMIT 100000",
    "SELECT * { <http://e/s1> <http://e/next> ?x . ?x <http://e/name> ?n }",
    "SELECT * { ?x <http://e/next> ?x . }",
    "SELECT * { <http://e/s1> ?x ?x }",
    "SELECT * { <http://e/s1> <http://e/next>* ?x }",
    "SELECT * { <http://e/s1> ^<http://e/next> ?x }",
    "SELECT * { <http://e/s1> <http://e/name>|<http://e/next> ?x }",
    "SELECT * { <http://e/s1> ?p ?o FILTER(?o > 1) }",
    "SELECT * { ?s <http://e/type> <http://e/Place> } ORDER BY ?s",
    "SELECT * { ?s ?p ?o } ORDER BY ?o LIMIT 2",
    "SELECT * { <http://e/s1> ?p ?o } ORDER BY STR(?o)",
    "SELECT * { <http://e/s1> ?p ?o } ORDER BY DESC(STR(?o))",
    "SELECT * { <http://e/s1> ?p ?o } ORDER BY ?o OFFSET 1",
    "SELECT * { <http://e/s1> ?p ?o } ORDER BY",
    "SELECT * { <http://e/s1> ?p ?o } OFFSET 1",
    "SELECT DISTINCT ?o { <http://e/s1> ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { <http://e/s1> ?p ?o }",
    "SELECT (<http://e/f>(?o) AS ?n) { <http://e/s1> ?p ?o }",
    "SELECT * { GRAPH <http://e/g> { <http://e/s1> ?p ?o } }",
    "SELECT * FROM <http://e/g> { <http://e/s1> ?p ?o }",
    "SELECT * { SERVICE <http://e/> { <http://e/s1> ?p ?o } }",
    "SELECT * { { <http://e/s1> ?p ?o } UNION { ?a ?b ?c } }",
    "SELECT * { OPTIONAL { <http://e/s1> ?p ?o } ?a ?b ?c }",
    "SELECT * { <http://e/s1> ?p ?o . { SELECT * { ?a ?b ?c } } }",
    "SELECT * { <http://e/s1> ?p [ ?q ?o ] }",
    "SELECT * { _:b ?p ?o }",
    "SELECT * { <s1> ?p ?o }",
    "BASE <http://e/> SELECT * { <s1> ?p ?o }",
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "CONSTRUCT WHERE { <http://e/s1> ?p ?o }",
    "DESCRIBE <http://e/s1>",
    "INSERT DATA { <http://e/s1> <http://e/p> 1 }",
    "SELECT * { e:s1 ?p ?o }",
    "SELECT * { <http://e/s1> ?p ?o ",
    "SELECT * { <http://e/s1> ?p }",
    "SELECT * { } ",
    "SELECT ",
    "",
]


@pytest.mark.parametrize("text", NO_LOOKUPS)
def test_what_is_not_bounded_before_it_runs_is_no_lookup(text: str) -> None:
    assert answer(text) is None


def test_an_answer_that_grows_too_large_is_left_to_a_reader_but_not_others_of_its_form() -> None:
    store = store_of(2_000)
    lookups = Lookups(lambda: store, BASE)
    large = "SELECT * { ?s <http://e/type> <http://e/Place> }"
    assert lookups.answer(large, JSON) is None
    assert lookups.answer("SELECT * { ?s <http://e/next> <http://e/s4> }", JSON) is not None
    store.clear()
    assert lookups.answer(large, JSON) is not None


def test_patterns_that_many_triples_fit_are_not_joined_here() -> None:
    text = "SELECT * {{ ?s <http://e/type> <http://e/Place> . <http://e/s1> <http://e/name> {} }}"
    assert answer(text.format("?n"), store_of(20)) is not None
    assert answer(text.format("?n"), store_of(2_000)) is None


def test_texts_of_one_form_with_other_names_get_their_own_answers() -> None:
    store = store_of()
    lookups = Lookups(lambda: store, BASE)
    for number in (3, 7, 3):
        found = lookups.answer(f"SELECT ?n {{ <http://e/s{number}> <http://e/name> ?n }}", JSON)
        assert json.loads(found or b"")["results"]["bindings"] == [
            {"n": {"type": "literal", "value": f"Place {number}"}}
        ]


def test_two_strings_that_together_look_like_a_name_do_not_pass_for_one() -> None:
    store = store_of()
    lookups = Lookups(lambda: store, BASE)
    one = "SELECT * { <http://e/s1> <http://e/name> '<abc>' }"
    two = "SELECT * { <http://e/s1> <http://e/name> '<','>' }"
    assert lookups.answer(one, JSON) is not None
    assert lookups.answer(two, JSON) is not None


def test_only_the_default_graph_is_looked_at() -> None:
    store = store_of()
    store.add(Quad(NamedNode(E + "s1"), NamedNode(E + "secret"), Literal("x"), NamedNode(E + "g")))
    found = answer("SELECT * { <http://e/s1> <http://e/secret> ?x }", store)
    assert json.loads(found or b"")["results"]["bindings"] == []


TERMS = st.sampled_from(["<http://e/s1>", "<http://e/s2>", "<http://e/next>", "<http://e/Place>", "?a", "?b"])
VERBS = st.sampled_from(["<http://e/next>", "<http://e/type>", "<http://e/name>", "?p", "a"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TERMS, VERBS, TERMS), min_size=1, max_size=4), st.sampled_from(["", "LIMIT 5"]))
def test_every_query_that_is_taken_gets_the_engines_answer(
    patterns: list[tuple[str, str, str]], end: str
) -> None:
    text = "SELECT * { " + " . ".join(" ".join(pattern) for pattern in patterns) + " } " + end
    store = store_of(12)
    found = Lookups(lambda: store, BASE).answer(text, JSON)
    if found is None:
        return
    expected = json.loads(store.query(text).serialize(format=JSON.engine) or b"")["results"]["bindings"]
    rows = json.loads(found)["results"]["bindings"]
    if end:
        assert len(rows) == len(expected)
    else:
        assert sorted(map(str, rows)) == sorted(map(str, expected))
