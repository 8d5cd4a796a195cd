from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparql.model.errors import MalformedRequest, NotAcceptable
from sparql.protocol.formats import GRAPH_FORMATS, RESULT_FORMATS, choose, choose_by_name


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, "json"),
        ("", "json"),
        ("*/*", "json"),
        ("*", "json"),
        ("application/sparql-results+xml", "xml"),
        ("text/csv", "csv"),
        ("text/*", "csv"),
        ("application/json", "json"),
        ("application/xml", "xml"),
        ("text/tab-separated-values;q=0.5, text/csv;q=0.4", "tsv"),
        ("application/sparql-results+json;q=0.1, text/csv", "csv"),
        ("*/*;q=0.1, text/csv;q=0.2", "csv"),
        ("application/sparql-results+json;q=0, */*", "xml"),
        ("TEXT/CSV", "csv"),
        ("text/html, application/sparql-results+xml;q=0.9, */*;q=0.1", "xml"),
        ("text/csv; charset=utf-8; q=1", "csv"),
        ("text/csv;q=high", "csv"),
    ],
)
def test_results_take_the_format_the_client_likes_best(accept: str | None, expected: str) -> None:
    assert choose(accept, RESULT_FORMATS).name == expected


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, "turtle"),
        ("application/n-triples", "ntriples"),
        ("application/rdf+xml, text/turtle;q=0.9", "rdfxml"),
        ("application/ld+json", "jsonld"),
        ("application/n-quads;q=0.2, application/trig;q=0.3", "trig"),
    ],
)
def test_graphs_take_the_format_the_client_likes_best(accept: str | None, expected: str) -> None:
    assert choose(accept, GRAPH_FORMATS).name == expected


def test_a_client_that_accepts_none_gets_the_list_of_formats() -> None:
    with pytest.raises(NotAcceptable, match="text/csv") as raised:
        choose("image/png, text/turtle", RESULT_FORMATS)
    assert "application/sparql-results+json" in raised.value.offered


def test_a_format_parameter_names_a_format_by_short_name_or_media_type() -> None:
    assert choose_by_name("csv", RESULT_FORMATS).name == "csv"
    assert choose_by_name("application/n-triples", GRAPH_FORMATS).name == "ntriples"
    with pytest.raises(MalformedRequest, match="json, xml, csv, tsv"):
        choose_by_name("turtle", RESULT_FORMATS)


@given(st.text(max_size=60))
def test_any_header_is_answered_or_refused(header: str) -> None:
    with suppress(NotAcceptable):
        assert choose(header, RESULT_FORMATS) in RESULT_FORMATS


_RANGES = st.sampled_from([one.media_type for one in RESULT_FORMATS])


@given(
    st.lists(st.tuples(_RANGES, st.floats(0.001, 1.0)), min_size=1, max_size=4, unique_by=lambda one: one[0])
)
def test_the_highest_quality_wins(entries: list[tuple[str, float]]) -> None:
    header = ", ".join(f"{name};q={quality:.3f}" for name, quality in entries)
    chosen = choose(header, RESULT_FORMATS)
    quality = {name: round(value, 3) for name, value in entries}
    assert quality[chosen.media_type] == max(quality.values())
