"""Dates with their precision, numbers, and quantities in the property's unit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from extractors.units import QUDT_UNIT
from extractors.unreadable import Unreadable
from extractors.values import looks_like_value, read_value
from tests.extractors.scripted import XSD, english, xsd

DATES = frozenset(NamedNode(XSD + name) for name in ("date", "gYearMonth", "gYear"))
COUNT = frozenset([NamedNode(XSD + "nonNegativeInteger")])
DECIMAL = frozenset([NamedNode(XSD + "decimal")])
TEXT = frozenset([NamedNode(XSD + "string")])


@pytest.mark.parametrize(
    ("words", "value", "datatype"),
    [
        ("24 May 1883", "1883-05-24", "date"),
        ("May 24, 1883", "1883-05-24", "date"),
        ("on the 24th of May, 1883", "1883-05-24", "date"),
        ("Thursday, May 24, 1883", "1883-05-24", "date"),
        ("1883-05-24", "1883-05-24", "date"),
        ("May 1883", "1883-05", "gYearMonth"),
        ("in Sept. 2001", "2001-09", "gYearMonth"),
        ("1754", "1754", "gYear"),
        ("in 1754", "1754", "gYear"),
        ("the year 1626", "1626", "gYear"),
        ("625 AD", "0625", "gYear"),
    ],
)
def test_a_date_keeps_the_precision_of_the_text(words: str, value: str, datatype: str) -> None:
    assert read_value(words, DATES) == xsd(value, datatype)


@pytest.mark.parametrize(
    "words",
    [
        *(
            "the 1890s",
            "19th century",
            "about 1900",
            "c. 1754",
            "summer 1969",
            "5/4/1883",
            "31 February 1900",
        ),
        *("1902–1904", "before 1900", "Manhattan", "0000", "44 BC", "12"),
    ],
)
def test_what_is_no_single_date_is_unreadable(words: str) -> None:
    assert isinstance(read_value(words, DATES), Unreadable)


def test_a_date_less_precise_than_the_property_demands_is_unreadable() -> None:
    read = read_value("1883", frozenset([NamedNode(XSD + "date")]))
    assert isinstance(read, Unreadable)
    assert "not as precise" in read.reason


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("8,804,190", "8804190"),
        ("8 804 190", "8804190"),
        ("1.5 million", "1500000"),
        ("about 8.8 million people", "8800000"),
        ("102 floors", "102"),
        ("102-story", "102"),
        ("twenty-two", "22"),
        ("eighteen thousand seats", "18000"),
        ("0", "0"),
    ],
)
def test_whole_numbers_are_read_in_figures_and_words(words: str, value: str) -> None:
    assert read_value(words, COUNT) == xsd(value, "nonNegativeInteger")


@pytest.mark.parametrize(
    "words",
    [
        *(
            "more than 500",
            "over a million",
            "between 5 and 6",
            "10-12",
            "10 to 12",
            "3rd",
            "5%",
            "-5",
            "8.5",
        ),
        *("many", "1,454 feet", "5 of 6 floors", "$5 million", "up to 300"),
    ],
)
def test_bounds_ranges_and_the_like_are_no_numbers(words: str) -> None:
    assert isinstance(read_value(words, COUNT), Unreadable)


@pytest.mark.parametrize(
    ("words", "unit", "value"),
    [
        ("381 m", "M", "381"),
        ("381 metres", "M", "381"),
        ("1,454 feet", "M", "443.18"),
        ("1,454 feet (443 m)", "M", "443"),
        ("1,454-foot", "M", "443.18"),
        ("5 ft 6 in", "M", "1.68"),
        ("about 500 feet tall", "M", "152.4"),
        ("13.4 miles", "KiloM", "21.57"),
        ("five miles", "KiloM", "8.05"),
        ("486 m", "KiloM", "0.486"),
        ("843 acres", "KiloM2", "3.411"),
        ("59.13 sq mi", "KiloM2", "153.15"),
        ("23 square miles (60 km²)", "KiloM2", "60"),
        ("120 hectares", "KiloM2", "1.2"),
    ],
)
def test_quantities_are_converted_to_the_propertys_unit(words: str, unit: str, value: str) -> None:
    assert read_value(words, DECIMAL, NamedNode(QUDT_UNIT + unit)) == xsd(value, "decimal")


@pytest.mark.parametrize("words", ["443", "5 tons", "tall", "over 500 feet", "from 100 to 200 feet", ""])
def test_quantities_without_a_fitting_unit_are_unreadable(words: str) -> None:
    assert isinstance(read_value(words, DECIMAL, NamedNode(QUDT_UNIT + "M")), Unreadable)


def test_a_property_that_counts_takes_a_plain_number() -> None:
    count = NamedNode(QUDT_UNIT + "NUM")
    assert read_value("102 floors", COUNT, count) == xsd("102", "nonNegativeInteger")
    assert isinstance(read_value("102 feet", COUNT, count), Unreadable)


def test_a_datatype_that_no_reader_knows_is_unreadable() -> None:
    assert isinstance(read_value("noon", frozenset([NamedNode(XSD + "time")])), Unreadable)


def test_text_stays_text_with_a_language_only_where_the_property_takes_one() -> None:
    tagged = frozenset([NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")])
    assert read_value("King's  College", TEXT, language="en") == Literal("King's College")
    assert read_value("King's College", tagged, language="en") == english("King's College")
    assert read_value("King's College", frozenset()) == Literal("King's College")


def test_web_addresses_become_uris() -> None:
    address = frozenset([NamedNode(XSD + "anyURI")])
    assert read_value("www.moma.org", address) == xsd("https://www.moma.org", "anyURI")
    assert isinstance(read_value("its website", address), Unreadable)


@pytest.mark.parametrize("words", ["1754", "May 1883", "7", "two", "381 m"])
def test_dates_numbers_and_quantities_look_like_values(words: str) -> None:
    assert looks_like_value(words)


@pytest.mark.parametrize(
    "words", ["5th Avenue", "432 Park Avenue", "Pier 17", "One World Trade Center", "42nd Street"]
)
def test_names_with_numbers_do_not(words: str) -> None:
    assert not looks_like_value(words)


@given(
    st.text(max_size=40),
    st.sampled_from([DATES, COUNT, DECIMAL, TEXT]),
    st.sampled_from([None, "M", "KiloM2"]),
)
def test_any_words_are_read_or_refused_with_a_reason(
    words: str, ranges: frozenset[NamedNode], unit: str | None
) -> None:
    read = read_value(words, ranges, NamedNode(QUDT_UNIT + unit) if unit else None)
    assert isinstance(read, Literal) or read.reason
