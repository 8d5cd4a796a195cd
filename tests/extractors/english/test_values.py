"""Dates with their precision, numbers, and quantities in the property's unit."""

import calendar
import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from extractors.english.quantities import QUDT_CURRENCY, Unreadable, convert
from extractors.english.values import EDTF, looks_like_value, read_value
from geo.measure.units import QUDT_UNIT
from tests.support.scripted import XSD, english, xsd

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
        ("since 1999", "1999", "gYear"),
        ("44 BC", "-0043", "gYear"),
        ("1 B.C.", "0000", "gYear"),
        ("25/4/1883", "1883-04-25", "date"),
        ("4/25/1883", "1883-04-25", "date"),
        ("early 2019", "2019", "gYear"),
        ("summer 1969", "1969", "gYear"),
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
            "5/4/1883",
            "31 February 1900",
        ),
        *("1902–1904", "before 1900", "Manhattan", "0000", "0 BC", "12"),
    ],
)
def test_what_is_no_single_date_is_unreadable(words: str) -> None:
    assert isinstance(read_value(words, DATES), Unreadable)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("in the 1920s", "192X"),
        ("the early 1890s", "189X"),
        ("19th century", "18XX"),
        ("the late nineteenth century", "18XX"),
        ("5th century BC", "-04XX"),
        ("between 1889 and 1901", "1889/1901"),
        ("from May 1889 to 12 June 1901", "1889-05/1901-06-12"),
        ("1902–04", "1902/1904"),
        ("from the 1920s to 1955", "192X/1955"),
        ("about 1900", "1900~"),
        ("c. May 1754", "1754-05~"),
        ("1754 (?)", "1754?"),
        ("before 1900", "../1900"),
        ("after 12 May 1931", "1931-05-12/.."),
        ("summer 1969", "1969-22"),
        ("early 2019", "2019"),
        ("12 May 1931", "1931-05-12"),
        ("1931", "1931"),
    ],
)
def test_a_property_that_takes_iso_8601_2_gets_every_stretch_of_time(words: str, value: str) -> None:
    assert read_value(words, frozenset([EDTF])) == Literal(value, datatype=EDTF)


@pytest.mark.parametrize("words", ["1901 to 1889", "0th century", "between Broadway and Park", "1902-banana"])
def test_what_is_no_stretch_of_time_is_unreadable(words: str) -> None:
    assert isinstance(read_value(words, frozenset([EDTF])), Unreadable)


def test_a_stretch_that_the_property_does_not_take_is_stated_in_iso_8601_2() -> None:
    read = read_value("the 1920s", DATES)
    assert isinstance(read, Unreadable)
    assert "192X" in read.reason


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
        ("2½ miles", "KiloM", "4.02"),
        ("half a mile", "KiloM", "0.805"),
        ("two and a half miles", "KiloM", "4.02"),
        ("a mile", "KiloM", "1.61"),
        ("45%", "PERCENT", "45"),
        ("45 per cent of the land", "PERCENT", "45"),
        ("21 °C", "DEG_C", "21"),
        ("70°F", "DEG_C", "21.1"),
        ("-40 degrees Fahrenheit", "DEG_C", "-40"),
        ("90 minutes", "HR", "1.5"),
        ("10,000 m²", "HA", "1"),
    ],
)
def test_quantities_are_converted_to_the_propertys_unit(words: str, unit: str, value: str) -> None:
    assert read_value(words, DECIMAL, NamedNode(QUDT_UNIT + unit)) == xsd(value, "decimal")


@pytest.mark.parametrize(
    ("words", "currency", "value"),
    [
        ("$2.1 million", "USD", "2100000"),
        ("about $5m", "USD", "5000000"),
        ("US$1,250", "USD", "1250"),
        ("2 million dollars", "CAD", "2000000"),
        ("€3bn", "EUR", "3000000000"),
        ("40 pounds", "GBP", "40"),
    ],
)
def test_money_is_read_in_the_propertys_currency(words: str, currency: str, value: str) -> None:
    assert read_value(words, DECIMAL, NamedNode(QUDT_CURRENCY + currency)) == xsd(value, "decimal")


def test_money_is_never_converted() -> None:
    assert isinstance(read_value("€5", DECIMAL, NamedNode(QUDT_CURRENCY + "USD")), Unreadable)
    assert isinstance(read_value("$5", COUNT), Unreadable)


def test_a_range_is_stated_in_the_propertys_unit() -> None:
    read = read_value("from 100 to 200 feet", DECIMAL, NamedNode(QUDT_UNIT + "M"))
    assert isinstance(read, Unreadable)
    assert "30.48 to 60.96 M" in read.reason


@given(st.decimals("0.01", "100000", places=2), st.sampled_from(["M", "KiloM", "FT", "MI", "YD"]))
def test_there_and_back_is_the_same_quantity(number: Decimal, unit: str) -> None:
    words = {"M": "m", "KiloM": "km", "FT": "feet", "MI": "miles", "YD": "yards"}[unit]
    there = convert(f"{number} {words}", NamedNode(QUDT_UNIT + "M"))
    assert isinstance(there, Decimal)
    back = convert(f"{there:f} m", NamedNode(QUDT_UNIT + unit))
    assert isinstance(back, Decimal)
    assert abs(back - number) <= number * Decimal("0.01")


@given(st.integers(1000, 2099), st.integers(1, 12), st.integers(1, 28))
def test_every_day_is_read_however_it_is_written(year: int, month: int, day: int) -> None:
    date = datetime.date(year, month, day)
    name = calendar.month_name[month]
    for words in (
        f"{day} {name} {year}",
        f"{name} {day}, {year}",
        date.isoformat(),
        f"on {day} {name[:3]}. {year}",
    ):
        assert read_value(words, DATES) == xsd(date.isoformat(), "date")


@given(st.integers(100, 209))
def test_every_decade_is_ten_years(decade: int) -> None:
    assert read_value(f"the {decade}0s", frozenset([EDTF])) == Literal(f"{decade}X", datatype=EDTF)


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


@pytest.mark.parametrize(
    "words", ["1754", "May 1883", "7", "two", "381 m", "the 1920s", "19th century", "$5 million", "45%"]
)
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
