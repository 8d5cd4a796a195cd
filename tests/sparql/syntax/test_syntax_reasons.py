"""What is said of a text that is no SPARQL: where the mistake is and what it is."""

from __future__ import annotations

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparql.model.errors import SyntaxProblem
from sparql.syntax.problems import syntax_problem


def problem_of(text: str, what: str) -> SyntaxProblem | None:
    store = pyoxigraph.Store()
    try:
        (store.query if what == "query" else store.update)(text)
    except SyntaxError as error:
        return syntax_problem(what, str(error), text)
    except RuntimeError:
        pass
    return None


MISTAKES = [
    ("SELECT * {?s ?p ", 1, 10, "the { that opens here is never closed"),
    ("SELECT ?s WHERE { ?s ?p ?o FILTER(?o > 1 }", 1, 34, "the ( that opens here is never closed"),
    ("SELECT ?s WHERE { ?s ?p ?o }}", 1, 29, "this } closes nothing"),
    ("SELECT * {\n ?s ?p 'a }", 2, 8, "the string that begins here does not end on its line"),
    (
        "SELECT * {\n ?s rdfs:label ?o }",
        *(2, 5),
        "the prefix rdfs: is not declared; begin with PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>",
    ),
    (
        "PREFIX a: <http://e/> SELECT * { ?s a:b b:c }",
        *(1, 41),
        "the prefix b: is not declared; begin with PREFIX b: <...>",
    ),
    ("SELEC * {}", 1, 1, "“SELEC” begins no query; one begins with SELECT, ASK, CONSTRUCT or DESCRIBE"),
    ("", 1, 1, "this begins no query; one begins with SELECT, ASK, CONSTRUCT or DESCRIBE"),
    ("select ?s where ?s ?p ?o", 1, 17, "it can be read up to “?s” only; expected {"),
    ("SELECT * WHERE { ?s ?p ?o } LIMIT x", 1, 35, "it can be read up to “x” only"),
    (
        "SELECT ?s { ?s <http://a b> ?o }",
        *(1, 28),
        "the IRI before this is relative, or has a character in it that an IRI may not have",
    ),
    ("SELECT * { ?s ?p ?o } GROUP BY ?s", 1, 34, "SELECT * is not authorized with GROUP BY"),
    (
        "SELECT (COUNT(*) AS ?n) ?x { ?s ?p ?x }",
        *(1, 40),
        "the SELECT contains a variable that is unbound",
    ),
    ("SELECT ?x { BIND(1 AS ?x) BIND(2 AS ?x) }", 1, 42, "something before the end of the text is wrong"),
]


@pytest.mark.parametrize(("text", "line", "column", "reason"), MISTAKES)
def test_a_mistake_in_a_query_is_named_with_its_place(text: str, line: int, column: int, reason: str) -> None:
    problem = problem_of(text, "query")
    assert problem is not None
    assert str(problem) == f"The query does not parse at line {line}, column {column}: {reason}."
    assert (problem.line, problem.column) == (line, column)


def test_a_variable_in_inserted_data_is_named() -> None:
    problem = problem_of("INSERT DATA { <http://e/a> <http://e/b> ?c }", "update")
    assert problem is not None
    assert "column 41: the variable ?c cannot stand in DATA; use a WHERE clause" in str(problem)


def test_a_word_that_begins_no_operation_is_named() -> None:
    problem = problem_of("DELET { ?a ?b ?c } WHERE { ?a ?b ?c }", "update")
    assert problem is not None
    assert "“DELET” begins no update" in str(problem)


WORDS = st.sampled_from(
    [
        "SELECT",
        "ASK",
        "WHERE",
        "INSERT",
        "DATA",
        "FILTER",
        "{",
        "}",
        "(",
        ")",
        ".",
        ";",
        "?a",
        "<http://e/b>",
        "e:c",
        "'x'",
        "'",
        "1",
    ]
)


@given(st.lists(st.tuples(WORDS, st.sampled_from(" \n")), max_size=12), st.sampled_from(["query", "update"]))
def test_every_refused_text_gets_a_place_inside_it(words: list[tuple[str, str]], what: str) -> None:
    text = "".join(word + space for word, space in words)
    problem = problem_of(text, what)
    if problem is not None:
        assert problem.line is not None
        assert problem.column is not None
        assert 1 <= problem.line <= text.count("\n") + 1
        assert 1 <= problem.column <= len(text.split("\n")[problem.line - 1]) + 1
