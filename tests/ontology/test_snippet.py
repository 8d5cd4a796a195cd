"""The relations that a sentence needs are among the twenty that are offered for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ontology import Schema, Snippet

FOLDER = Path(__file__).parents[2] / "ontology"

SENTENCES = [
    (
        "Columbia University is a private Ivy League research university in New York City. Established in "
        "1754 as King's College on the grounds of Trinity Church in Manhattan, it is the oldest institution "
        "of higher education in New York.",
        {"located in", "established", "former name"},
        {"university"},
    ),
    (
        "The Chrysler Building, 319 metres tall, was designed by William Van Alen. "
        "It stands on Lexington Avenue.",
        {"designed by", "height", "located on"},
        {"building", "avenue"},
    ),
    (
        "Prospect Park, laid out by Frederick Law Olmsted, covers 526 acres in Brooklyn.",
        {"designed by", "area", "located in"},
        {"park"},
    ),
    (
        "The bridge spans the East River and connects Lower Manhattan with Brooklyn Heights.",
        {"connects", "crosses"},
        {"bridge", "river"},
    ),
    (
        "Construction of the tunnel began in 1920 and it opened to traffic on November 13, 1927.",
        {"construction started", "opened"},
        {"tunnel"},
    ),
    (
        "The station is served by the 7 train and is operated by the transit authority.",
        {"served by", "operated by"},
        {"station"},
    ),
    (
        "Astoria borders Long Island City to the south and had a population of 78,793 in 2010.",
        {"adjacent to", "population"},
        set(),
    ),
    (
        "The old depot was torn down in 1963 to make way for an arena.",
        {"demolished", "replaced by"},
        {"sports venue"},
    ),
    ("The library is named after the banker James Lenox, who founded it.", {"named after"}, {"library"}),
    ("Emma Lazarus was born in New York City and died there in 1887.", {"born in", "died in"}, set()),
    ("The newspaper ceased publication in 1950 after a strike.", {"closed"}, {"newspaper"}),
    ("The theater seats 1,500 people and was restored in 1996.", {"capacity", "renovated"}, {"theater"}),
    (
        "It was built in the Art Deco style between 1930 and 1931.",
        {"architectural style", "completed"},
        set(),
    ),
    ("The college enrolls about 19,000 students.", {"student count"}, {"college"}),
    ("The museum draws three million visitors a year.", {"annual visitors"}, {"museum"}),
    ("The bank has its headquarters at 200 West Street.", {"headquartered in", "address"}, set()),
    (
        "The parade runs along Fifth Avenue from 44th Street to 79th Street.",
        {"runs through", "starts at"},
        {"parade"},
    ),
    ("The festival takes place in Little Italy each September.", {"held at"}, {"festival"}),
    ("The square, formerly known as Longacre Square, was renamed in 1904.", {"former name"}, {"square"}),
    (
        "Known as the Flatiron, the 22-story tower was completed in 1902.",
        {"nickname", "floor count", "completed"},
        set(),
    ),
    ("The arch commemorates the centennial of Washington's inauguration.", {"commemorates"}, set()),
    (
        "The hotel is owned by a Singapore company and managed by a chain.",
        {"owned by", "operated by"},
        {"hotel"},
    ),
    (
        "The hospital is affiliated with a medical school in the Bronx.",
        {"affiliated with", "located in"},
        {"hospital"},
    ),
    ("Queens is one of the five boroughs of New York City.", {"part of"}, {"borough", "city"}),
    ("The firm was founded by Gordon Bunshaft's partners in 1936.", {"founded by", "established"}, set()),
    ("The creek is 3.5 miles long and empties into the East River.", {"length", "ends at"}, {"river"}),
    ("The society is housed in a brownstone on East 70th Street.", {"housed in", "located on"}, {"building"}),
    (
        "The first fair was held from April 30, 1939 to October 31, 1940.",
        {"start date", "end date"},
        {"fair"},
    ),
    (
        "The neighborhood is bounded by Houston Street and Canal Street.",
        {"adjacent to"},
        {"neighborhood", "street"},
    ),
    ("Albany is the capital of the state of New York.", {"capital of"}, {"state"}),
    ("The terminal handles 750,000 passengers a day.", {"ridership"}, set()),
    ("The old factory is now used for housing.", {"has function"}, set()),
    ("The exhibition was organized by the Museum of Modern Art.", {"organized by"}, {"exhibition", "museum"}),
    ("The ballpark hosted the All-Star Game in 2008.", {"hosts"}, {"sports venue"}),
    ("The hill stands 401 feet above sea level.", {"elevation"}, set()),
    ("The company merged into a larger railroad in 1968.", {"succeeded by"}, {"company"}),
]


@cache
def schema() -> Schema:
    return Schema.load(FOLDER)


def property_labels(snippet: Snippet) -> set[str]:
    return {term.label for term in snippet.properties}


@pytest.mark.parametrize(
    ("text", "relations", "classes"), SENTENCES, ids=[text[:40] for text, _, _ in SENTENCES]
)
def test_the_relations_and_classes_of_a_sentence_are_offered(
    text: str, relations: set[str], classes: set[str]
) -> None:
    snippet = schema().snippet(text)
    assert relations <= property_labels(snippet)
    assert classes <= {term.label for term in snippet.classes}


def test_most_needed_relations_are_among_the_first_ten() -> None:
    needed = found = 0
    for text, relations, _ in SENTENCES:
        needed += len(relations)
        found += len(relations & property_labels(schema().snippet(text, limit_properties=10)))
    assert found / needed > 0.9


def test_a_snippet_is_as_long_as_asked_for_and_starts_in_file_order_where_nothing_fits() -> None:
    snippet = schema().snippet("", limit_classes=3, limit_properties=4)
    assert [term.label for term in snippet.classes] == ["place", "administrative area", "city"]
    assert [term.label for term in snippet.properties][:2] == ["located in", "part of"]
    assert len(snippet.properties) == 4
    assert schema().snippet("a park", 0, 0) == Snippet((), ())


def test_a_snippet_offers_no_terms_of_other_vocabularies_and_no_annotations() -> None:
    snippet = schema().snippet("an agent with a geometry has a title", 500, 500)
    own = "https://w3id.org/urbankg/urban#"
    assert all(term.iri.value.startswith(own) for term in (*snippet.classes, *snippet.properties))
