"""Files of questions, asked of a graph and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from research.questions.asking import FreeQueries, KeywordTemplate, QuestionGraph, read_questions
from research.questions.scoring import ask_all, score
from server.errors import ServerError
from tests.support.scripted import ScriptedModel, words

GRAPH = """
@prefix e: <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> .
e:oak a e:Tree ; rdfs:label "Old Oak" ; e:height 20 ; e:plantedBy e:ann ;
  geo:hasGeometry [ geo:asWKT "POINT(1 1)"^^geo:wktLiteral ] .
e:elm a e:Tree ; rdfs:label "Elm One" ; e:height 12 ;
  geo:hasGeometry [ geo:asWKT "POINT(9 9)"^^geo:wktLiteral ] .
e:grove a e:Grove ; rdfs:label "North Grove" ;
  geo:hasGeometry [ geo:asWKT "POLYGON((0 0,2 0,2 2,0 2,0 0))"^^geo:wktLiteral ] .
e:ann a e:Gardener ; rdfs:label "Ann Mill" .
"""
LINES = [
    {
        "id": 1,
        "question": "Which trees are in North Grove?",
        "query": "SELECT ?x { VALUES ?x { <http://e/oak> } }",
    },
    {"id": 2, "question": "Who planted Old Oak?", "query": "SELECT ?x { VALUES ?x { <http://e/ann> } }"},
    {
        "id": 3,
        "question": "Which is the tallest tree?",
        "query": "SELECT ?x { VALUES ?x { <http://e/elm> } }",
    },
    {"id": 4, "question": "Is Elm One in North Grove?", "query": "ASK { FILTER(false) }"},
    {"id": 5, "question": "Which mossy trees are there?", "gap": "schema"},
    {
        "id": 6,
        "question": "Which trees are not in North Grove?",
        "trap": True,
        "query": "ASK { FILTER(true) }",
    },
    {"id": 7, "question": "How many trees are there?", "group": "g", "query": "SELECT (2 AS ?n) {}"},
    {"id": 8, "question": "Count the trees.", "group": "g", "query": "SELECT (2 AS ?n) {}"},
]


@pytest.fixture
def graph(tmp_path: Path) -> QuestionGraph:
    (tmp_path / "graph.ttl").write_text(GRAPH, encoding="utf-8")
    return QuestionGraph([tmp_path / "graph.ttl"], None)


async def test_answers_are_scored_against_gold_queries(graph: QuestionGraph, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    outcomes = await ask_all(graph, read_questions(path))
    exact = {one.question.id for one in outcomes if one.exact}
    assert exact == {"1", "2", "4", "7", "8"}
    found = score(outcomes)
    assert (found.answerable, found.exact, found.unanswerable, found.refused) == (6, 5, 1, 1)
    assert (found.traps, found.trapped, found.false) == (1, 1, 2)
    assert (found.groups, found.alike) == (1, 1)
    assert 0 < found.p50_ms <= found.p95_ms


async def test_a_keyword_template_answers_what_names_and_classes_alone_say(
    graph: QuestionGraph, tmp_path: Path
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    outcomes = await ask_all(graph, read_questions(path), KeywordTemplate(graph).ask)
    assert {one.question.id for one in outcomes if one.exact} == {"1", "2", "7", "8"}
    assert {one.question.id for one in outcomes if one.false} >= {"5", "6"}


async def test_the_query_of_a_model_is_run_without_any_check(graph: QuestionGraph, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES[:3])), encoding="utf-8")
    written = ("SELECT ?t { ?t <http://e/height> 20 }", "SELECT", "SELECT ?t { ?t <http://e/height> 3 }")
    model = ScriptedModel(*(words(json.dumps({"sparql": query})) for query in written))
    outcomes = await ask_all(graph, read_questions(path), FreeQueries(graph, model).ask)
    assert [(one.exact, one.refused) for one in outcomes] == [(True, False), (False, True), (False, False)]


def test_questions_of_text2sparql_are_read(tmp_path: Path) -> None:
    path = tmp_path / "questions.yml"
    path.write_text(
        "questions:\n- id: 7\n  question: {en: 'Who?'}\n  features: [ASK]\n  query: {sparql: 'ASK {}'}\n",
        encoding="utf-8",
    )
    (question,) = read_questions(path)
    assert (question.id, question.text, question.category, question.query) == ("7", "Who?", "ASK", "ASK {}")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", "{", "line 1"),
        ("b.jsonl", '{"id": 1, "question": "Who?", "golden": 3}', "golden"),
        ("c.yml", "asked: []", "TEXT2SPARQL"),
        ("d.jsonl", "", "no question"),
    ],
)
def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ServerError, match=words):
        read_questions(tmp_path / name)
