"""Text matches wherever a query may hold one, and those that cannot be answered, on a real store."""

from __future__ import annotations

import pytest

from sparql.model.errors import MalformedRequest
from sparql.writing.updates import capture
from tests.sparql.model.test_options import MATCH, Town
from tests.support.spatial_city import PREFIXES

POND = f"EXISTS {{ ?p {MATCH} ('the old pond' 1) }}"


@pytest.fixture(scope="module")
def town() -> Town:
    return Town()


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT ?p ({POND} AS ?found) {{ ?p geo:hasGeometry ?g }}",
        f"SELECT ?p ?found {{ {{ SELECT ?p ({POND} AS ?found) {{ ?p geo:hasGeometry ?g }} }} }}",
        f"SELECT ?p ?found {{ ?p geo:hasGeometry ?g }} GROUP BY ?p ({POND} AS ?found)",
    ],
)
def test_a_text_match_in_an_expression_that_is_selected_is_answered(town: Town, query: str) -> None:
    assert [row[0].rpartition("/")[2] for row in town.ask(query) if row[1] == "true"] == ["pond"]


def test_a_text_match_in_having_is_answered(town: Town) -> None:
    assert town.names(f"SELECT ?p {{ ?p geo:hasGeometry ?g }} GROUP BY ?p HAVING ({POND})") == ["pond"]


def test_a_text_match_in_order_by_is_answered(town: Town) -> None:
    ordered = f"SELECT ?p {{ ?p geo:hasGeometry ?g }} ORDER BY DESC({POND}) LIMIT 1"
    assert town.names(ordered) == ["pond"]


def test_options_reach_an_exists_that_is_selected(town: Town) -> None:
    selected = "SELECT (EXISTS { ex:pond %s ex:park } AS ?found) {}"
    assert town.ask(selected % "geo:sfWithin", rewrite=True) == [("true",)]
    assert town.ask(selected % "geo:rcc8ntpp") == [("true",)]
    assert town.ask(selected % "geo:rcc8ntpp", derived=False) == [("false",)]


def test_two_texts_of_one_place_must_both_match(town: Town) -> None:
    assert town.names(f"SELECT ?p {{ ?p {MATCH} ('the old pond' 1), 'the old bench' }}") == ["pond"]
    assert town.names(f"SELECT ?p {{ ?p {MATCH} ('the old pond' 1) ; {MATCH} 'xyzzy' }}") == []


def test_a_collection_beside_a_text_match_stays_a_pattern(town: Town) -> None:
    assert town.names(f"SELECT ?p {{ ?p {MATCH} ('the old pond' 1) ; ex:list (1 2) }}") == []


def test_no_words_and_no_number_of_places_find_nothing(town: Town) -> None:
    for value in ("''", "'  '", "('the old pond' 0)", "'?!'"):
        assert town.names(f"SELECT ?p {{ ?p {MATCH} {value} }}") == []


def test_a_language_of_the_words_does_not_matter(town: Town) -> None:
    assert town.names(f"SELECT ?p {{ ?p {MATCH} ('THE OLD POND!'@fr 1) }}") == ["pond"]


@pytest.mark.parametrize(
    "pattern",
    [
        f"?p {MATCH} 5",
        f"?p {MATCH} ('pond' -1)",
        f"?p {MATCH} ('pond' 'abc'^^<http://www.w3.org/2001/XMLSchema#integer>)",
        f"?p {MATCH} ('pond' '{'9' * 5000}'^^<http://www.w3.org/2001/XMLSchema#integer>)",
        f"?p {MATCH} ('pond' 1 2)",
        f"?p {MATCH} ()",
        f"() {MATCH} 'pond'",
        f"(?p ?p) {MATCH} 'pond'",
        f"(?p ?s) {MATCH} 'pond' ; ex:of ?q",
        f"?p ^{MATCH} 'pond'",
        f"?p {MATCH}|rdfs:label 'pond'",
        f"?p geo:sfWithin/{MATCH} 'pond'",
        f"?p ex:of ?q LATERAL {{ ?p {MATCH} 'pond' }}",
        f"?p {MATCH} 'pond' . << ?p ex:of ?q >> ex:since ?year",
    ],
)
def test_a_text_match_that_cannot_be_answered_is_refused(town: Town, pattern: str) -> None:
    with pytest.raises(MalformedRequest, match="textMatch"):
        town.ask(f"SELECT * {{ {pattern} }}")


def test_a_text_match_in_an_update_is_refused(town: Town) -> None:
    with pytest.raises(MalformedRequest, match="textMatch finds labels in queries only"):
        capture(town.store.graph, PREFIXES + f"INSERT {{ ?p ex:seen 1 }} WHERE {{ ?p {MATCH} 'pond' }}")
