"""Queries are read into trees, or not at all."""

import pytest
from pyoxigraph import Literal, NamedNode, Variable

from sparql.model.vocabulary import RDF, XSD
from sparql.syntax import nodes as n
from sparql.syntax.parser import parse_query
from sparql.syntax.tokens import NotUnderstood
from sparql.syntax.writing import triples_text


def where(text: str) -> n.Group:
    group = parse_query(text).query.where
    assert group is not None
    return group


def test_statements_are_taken_apart_into_triple_patterns() -> None:
    (statement,) = where("SELECT * { ?s a <http://e/C> ; <http://e/p> 1, 2.5 . }").elements
    assert isinstance(statement, n.Statement)
    assert [triple.predicate for triple in statement.triples] == [RDF.type, *[NamedNode("http://e/p")] * 2]
    assert [triple.object for triple in statement.triples[1:]] == [
        Literal(1),
        Literal("2.5", datatype=XSD.decimal),
    ]


def test_a_path_is_a_tree() -> None:
    (statement,) = where("SELECT * { ?s ^<http://e/p>/(<http://e/q>|!a)* ?o }").elements
    assert isinstance(statement, n.Statement)
    verb = statement.triples[0].verb
    assert isinstance(verb, n.PathOperator)
    assert verb.operator == "/"
    assert [part.operator for part in verb.parts if isinstance(part, n.PathOperator)] == ["^", "*"]


def test_blank_nodes_and_collections_become_triples() -> None:
    (statement,) = where("SELECT * { [ <http://e/p> ( ?a ?b ) ] }").elements
    assert isinstance(statement, n.Statement)
    assert len(statement.triples) == 5


def test_expressions_bind_as_the_grammar_says() -> None:
    text = "SELECT * { FILTER(?a + 1 < 3 * ?b && (?c || !?d)) }"
    (filter_,) = where(text).elements
    assert isinstance(filter_, n.Filter)
    both = filter_.expression
    assert isinstance(both, n.Operation)
    assert both.name == "&&"
    assert [text[part.start : part.end] for part in both.arguments] == ["?a + 1 < 3 * ?b", "?c || !?d"]


def test_a_string_is_unescaped_and_typed() -> None:
    (filter_,) = where('SELECT * { FILTER("a\\"\\u0041"^^<http://e/t> = """x"y""") }').elements
    assert isinstance(filter_, n.Filter)
    left, right = filter_.expression.arguments  # type: ignore[union-attr]
    assert left.term == Literal('a"A', datatype=NamedNode("http://e/t"))
    assert right.term == Literal('x"y')


def test_order_limit_and_offset_are_read() -> None:
    query = parse_query("SELECT ?a (?a AS ?b) { ?a ?p ?o } ORDER BY DESC(?b) ?a LIMIT 3 OFFSET 4").query
    assert [key.descending for key in query.order] == [True, False]
    assert (query.limit, query.offset) == (3, 4)
    assert query.projection is not None
    assert query.projection[1].expression is not None


def test_sub_selects_unions_and_negation_are_groups() -> None:
    group = where(
        "SELECT * { { SELECT ?a { ?a ?b ?c } } { ?a ?b ?c } UNION { ?d ?e ?f } "
        "FILTER NOT EXISTS { ?a ?x ?y } OPTIONAL { ?a ?l ?m } MINUS { ?a ?n ?z } GRAPH ?g { ?a ?b ?c } }"
    )
    assert len(list(n.groups_in(group))) == 9
    graph = group.elements[-1]
    assert isinstance(graph, n.Nested)
    assert graph.name == Variable("g")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p ?o",
        "SELECT * {" + "[a" * 500 + "]" * 500 + "}",
        "SELECT * { ?s e:unknown ?o }",
        "INSERT DATA { <http://e/s> <http://e/p> 1 }",
        "SELECT * { " + "{ " * 80 + "} " * 80 + "}",
    ],
)
def test_what_is_not_known_is_not_guessed(text: str) -> None:
    with pytest.raises(NotUnderstood):
        parse_query(text)


@pytest.mark.parametrize(
    ("pattern", "read"),
    [
        ("<< ?s ?p ?o >> <e:q> ?r", "_:anon1 {reifies} <<( ?s ?p ?o )>> . _:anon1 <e:q> ?r"),
        ("<< ?s ?p ?o ~ ?t >> <e:q> ?r", "?t {reifies} <<( ?s ?p ?o )>> . ?t <e:q> ?r"),
        ("?t <e:p> <<( ?s <e:q> 1 )>>", '?t <e:p> <<( ?s <e:q> "1"^^{integer} )>>'),
        ("?s <e:p> ?o ~ ?t", "?s <e:p> ?o . ?t {reifies} <<( ?s <e:p> ?o )>>"),
        ("?s <e:p> ?o ~ ?t {| <e:q> ?r |}", "?s <e:p> ?o . ?t {reifies} <<( ?s <e:p> ?o )>> . ?t <e:q> ?r"),
        (
            "?s <e:p> ?o {| <e:q> ?r |}",
            "?s <e:p> ?o . _:anon1 {reifies} <<( ?s <e:p> ?o )>> . _:anon1 <e:q> ?r",
        ),
    ],
)
def test_what_reifies_a_triple_is_read_as_patterns_with_triple_terms(pattern: str, read: str) -> None:
    parsed = parse_query(f"SELECT * {{ {pattern} }}")
    assert parsed.triple_terms
    assert parsed.query.where is not None
    written = triples_text(t for one in parsed.query.where.elements for t in getattr(one, "triples", ()))
    assert written == read.format(
        reifies="<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>",
        type="<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        integer="<http://www.w3.org/2001/XMLSchema#integer>",
    )
    assert n.names_in(parsed.query) >= {"s"}
