"""A tree is written as the client's text, with new elements in place of some."""

import pytest
from pyoxigraph import NamedNode, Store, Variable

from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.parser import parse_query
from sparql.syntax.writing import Elements, Place, replace_elements

P, Q = NamedNode("http://e/p"), NamedNode("http://e/q")


def replaced(text: str, *predicates: NamedNode) -> str:
    """The text with the patterns of these predicates in a group of their own."""
    parsed = parse_query(text)

    def replace(element: n.Element, _place: Place) -> Elements | None:
        if isinstance(element, n.Statement) and element.triples[0].predicate in predicates:
            return (b.in_braces(b.statement(*element.triples)), b.filtered(b.use(Variable("a"))))
        return None

    return parsed.with_query(replace_elements(parsed.query, replace)).written()


@pytest.mark.parametrize(
    "text",
    [
        "PREFIX e: <http://e/>\nSELECT  ?a # x\n{ ?a e:p 'x' ; e:q [ e:p 1 ] .  FILTER(?a<3) } LIMIT 3 # end",
        "CONSTRUCT WHERE { ?a <http://e/p> _:b . _:b <http://e/q> (1 2) }",
        "ASK { { ?a ?b ?c } UNION { SELECT ?a { ?a ?b ?c } } OPTIONAL { ?a ?d ?e } MINUS { ?a ?f ?g } }",
        "SELECT (EXISTS { ?a ?b ?c } AS ?x) { VALUES (?a ?b) { (UNDEF 1) } } ORDER BY EXISTS { ?a ?c ?d }",
    ],
)
def test_what_is_not_replaced_stays_byte_for_byte(text: str) -> None:
    assert replaced(text) == text


def test_only_the_replaced_elements_change() -> None:
    text = "SELECT * { ?a <http://e/p> ?b . # note\n  ?a <http://e/x> ?c . ?a <http://e/q>  ?d }"
    assert replaced(text, P) == (
        "SELECT * { { ?a <http://e/p> ?b } FILTER(?a) . # note\n  ?a <http://e/x> ?c . ?a <http://e/q>  ?d }"
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?a <http://e/p> ?b . ?a <http://e/q> ?c . ?a <http://e/p> ?d FILTER(?b > 1) }",
        "SELECT * { ?x ?y ?z FILTER NOT EXISTS { ?a <http://e/p> ?b ; <http://e/q> [] } }",
        "SELECT (EXISTS { ?a <http://e/p> ?b } AS ?x) { OPTIONAL { ?a <http://e/q> ?c } }",
        "SELECT * { ?x ?y ?z . { SELECT ?a { ?a <http://e/p> ?b } ORDER BY EXISTS { ?a <http://e/q> 1 } } }",
    ],
)
def test_elements_are_replaced_wherever_they_are(text: str) -> None:
    written = replaced(text, P, Q)
    parse_query(written)
    Store().query(written)
    assert written.count("FILTER(?a)") == text.count("?a <http://e/")


def test_a_blank_node_keeps_its_label() -> None:
    assert "{ _:b1 <http://e/p> ?b }" in replaced("SELECT * { _:b1 <http://e/p> ?b }", P)
