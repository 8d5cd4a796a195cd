"""A rewritten query gives the answer of the query: over many queries made by chance, on a real store."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyoxigraph import NamedNode

from sparql.syntax.parser import parse_query
from tests.support.random_queries import QueryMaker
from tests.support.spatial_city import OTHER_GRAPH, PREFIXES, City, plain_city, small_city

MANY = 600


@pytest.fixture(autouse=True)
def _no_query_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cities have few places; what is asked one by one in small is asked as in a large one."""
    monkeypatch.setattr("sparql.rewriting.filter_sites._FEW_SOLUTIONS", 1)


def compare(city: City, make: Callable[[QueryMaker], str], seeds: range) -> int:
    """Check each query both ways; how many were rewritten."""
    rewritten = 0
    for seed in seeds:
        query = make(QueryMaker(seed))
        text, report = city.rewritten(query)
        parse_query(PREFIXES + query)
        rewritten += bool(report.done)
        expected = city.answers(PREFIXES + query)
        assert city.answers(text) == expected, f"seed {seed}\n{query}\n{text}"
    return rewritten


MAKERS = [QueryMaker.one, QueryMaker.nearest, QueryMaker.join, QueryMaker.nested]
NAMES = ["filters", "nearest", "joins", "nested"]


@pytest.mark.parametrize(
    ("make", "places", "count"),
    [
        *((QueryMaker.one, 40, 60), (QueryMaker.nearest, 40, 20), (QueryMaker.join, 12, 25)),
        (QueryMaker.nested, 20, 80),
    ],
    ids=NAMES,
)
def test_rewritten_queries_answer_as_the_plain_ones(
    make: Callable[[QueryMaker], str], places: int, count: int
) -> None:
    city = City(small_city(places=places, literals_only=make is QueryMaker.nearest))
    assert compare(city, make, range(count)) > count // 10


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS, ids=NAMES)
def test_rewritten_queries_answer_as_the_plain_ones_at_length(make: Callable[[QueryMaker], str]) -> None:
    for seed in range(4):
        city = City(small_city(seed, 25, literals_only=seed % 2 == 0))
        compare(city, make, range(1000 * (seed + 1), 1000 * (seed + 1) + MANY))


def test_a_dataset_of_the_request_is_kept() -> None:
    city = City(small_city())
    rewritten = 0
    for seed in range(40):
        query = QueryMaker(seed).one()
        text, report = city.rewritten(query)
        rewritten += bool(report.done)
        for default, named in (
            ([OTHER_GRAPH], []),
            ([], [OTHER_GRAPH]),
            ([NamedNode("http://no.where/")], []),
        ):
            dataset = {"default_graph": default, "named_graphs": named}
            assert city.answers(text, **dataset) == city.answers(PREFIXES + query, **dataset), query
    assert rewritten


@pytest.mark.parametrize("seed", range(4))
def test_joins_whose_pairs_are_named_as_features_answer_as_the_plain_ones(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:
        # Each side's other patterns are asked as a whole, as for thousands of pairs.
        monkeypatch.setattr("sparql.rewriting.joins._MOST_LOOKED_UP", 0)
    city = City(plain_city(seed, 24))
    named = 0
    for number in range(40):
        query = QueryMaker(1000 * seed + number).related()
        text, report = city.rewritten(query)
        named += "pairs of ?f and ?f2" in str(report.done)
        assert city.answers(text) == city.answers(PREFIXES + query), f"seed {seed} {number}\n{query}\n{text}"
    assert named > 5


@pytest.mark.parametrize("seed", range(3))
def test_nested_filters_and_joins_of_features_answer_as_the_plain_ones(seed: int) -> None:
    city = City(plain_city(seed, 20))
    assert compare(city, QueryMaker.nested, range(1000 * seed, 1000 * seed + 40)) > 5


@pytest.mark.parametrize("seed", range(3))
def test_filters_whose_candidates_are_named_as_features_answer_as_the_plain_ones(seed: int) -> None:
    city = City(plain_city(seed, 40))
    assert compare(city, QueryMaker.one, range(1000 * seed, 1000 * seed + 40)) > 5
