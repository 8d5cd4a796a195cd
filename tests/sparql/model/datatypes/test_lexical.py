"""The lexical spaces of XSD datatypes, against another implementation of XML Schema."""

import random
import re
import string

import pytest
from lxml import etree
from pyoxigraph import Literal, Triple

from sparql.model.literals import in_lexical_space, literal_violations
from sparql.model.vocabulary import GEO, XSD, Namespace

EX = Namespace("http://example.org/")

SAMPLES = {
    "boolean": ["true", "false", "0", "1"],
    "decimal": ["1", "-1.50", "+.5", "7.", "00.0"],
    "integer": ["0", "-12", "+007", "123456789012345678901234567890"],
    "double": ["1", "-1.5e10", "INF", "-INF", "NaN", ".5E-3", "2.e+7"],
    "float": ["1", "-1.5e10", "INF", "-INF", "NaN", ".5E-3"],
    "nonNegativeInteger": ["0", "-0", "12", "+3"],
    "positiveInteger": ["1", "+12", "0001", "10"],
    "nonPositiveInteger": ["0", "-12", "+0"],
    "negativeInteger": ["-1", "-0012", "-10"],
    "byte": ["-128", "127", "+0", "0099"],
    "short": ["-32768", "32767", "100"],
    "int": ["-2147483648", "2147483647", "12"],
    "long": ["-9223372036854775808", "9223372036854775807"],
    "unsignedByte": ["255", "0", "+12"],
    "unsignedShort": ["65535", "7"],
    "unsignedInt": ["4294967295", "10"],
    "unsignedLong": ["18446744073709551615", "1"],
    "date": ["2024-02-29", "1900-02-28", "2026-12-31Z", "1999-04-30-14:00", "-0044-03-15", "12026-10-10"],
    "dateTime": ["2026-11-22T23:59:59.999Z", "2024-02-29T24:00:00", "2000-01-01T00:00:00+05:30"],
    "time": ["23:59:59", "00:00:00.5Z", "24:00:00", "12:30:00-14:00"],
    "gYear": ["1900", "-0044", "12026", "2026Z", "2026+01:00"],
    "gYearMonth": ["2026-11", "1999-12Z"],
    "gMonth": ["--11", "--01Z"],
    "gMonthDay": ["--02-29", "--12-31", "--04-30Z"],
    "gDay": ["---31", "---01Z"],
    "duration": ["P1Y2M3DT4H5M6.7S", "-P1D", "PT1S", "P0Y", "PT1H1S", "P2M1D"],
    "hexBinary": ["", "00fF", "DEADBEEF"],
    "base64Binary": ["", "QUJD", "QQ==", "QUI=", "Q U J D", "QUJDRA=="],
    "language": ["en", "de-CH-1996", "x-private"],
    "token": ["", "a b", "a"],
    "NMTOKEN": ["a", "1-2.3:x", "-"],
    "Name": ["a:b", "_x-1", ":"],
    "NCName": ["a.b", "_x-1", "É"],
}
ALPHABET = "0123456789+-.:TZPYMDHSeEINFa=/ _é" + string.ascii_lowercase[:4]


def the_other(name: str) -> etree.XMLSchema:
    return etree.XMLSchema(
        etree.fromstring(
            f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="v" type="xs:{name}"/>'
            "</xs:schema>"
        )
    )


def changed(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 2)):
        place = rng.randint(0, len(text))
        kind = rng.random()
        if kind < 0.4 and text:
            text = text[:place] + rng.choice(ALPHABET) + text[place + 1 :]
        elif kind < 0.7:
            text = text[:place] + rng.choice(ALPHABET) + text[place:]
        else:
            text = text[: max(place - 1, 0)] + text[place:]
    return text


def read_otherwise(name: str, text: str) -> bool:
    """Where the other reads XML Schema 1.0, trims, or is laxer than the text of the standard."""
    trimmed = " ".join(text.split()) != text
    edition = "0000" in text or text == "+INF"
    lax = {
        "double": re.search("[eE][+-]?$", text),
        "float": re.search("[eE][+-]?$", text),
        "duration": re.search(r"(?<!\d)\.|\.(?!\d)", text),
        "base64Binary": re.search("[^A-Za-z0-9+/= ]", text),
    }.get(name)
    return trimmed or edition or lax is not None


@pytest.mark.parametrize("name", SAMPLES)
def test_a_text_is_in_the_lexical_space_where_xml_schema_says_so(name: str):
    rng = random.Random(name)
    schema = the_other(name)
    inside = 0
    for _ in range(400):
        text = rng.choice(SAMPLES[name])
        text = changed(rng, text) if rng.random() < 0.8 else text
        if read_otherwise(name, text):
            continue
        element = etree.Element("v")
        element.text = text
        valid = schema.validate(element)
        assert in_lexical_space(name, text) == valid, f"{text!r} as xsd:{name}"
        inside += valid
    assert 20 < inside < 400


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("integer", " 1"),
        ("integer", "1\n"),
        ("integer", "1_000"),
        ("integer", "\u0661"),
        ("boolean", "True"),
        ("date", "2026-02-29"),
        ("date", "1900-02-29"),
        ("dateTime", "2026-11-22T24:00:01"),
        ("dateTimeStamp", "2026-11-22T10:00:00"),
        ("gYear", "99"),
        ("gYear", "02026"),
        ("yearMonthDuration", "P1D"),
        ("dayTimeDuration", "P1Y"),
        ("dayTimeDuration", "P1DT"),
        ("decimal", "1e3"),
        ("double", "1e"),
        ("normalizedString", "a\tb"),
        ("token", " a"),
    ],
)
def test_texts_that_rdf_excludes_are_outside(name: str, text: str):
    assert not in_lexical_space(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gYear", "0000"),
        ("date", "0000-02-29"),
        ("date", "-0004-02-29"),
        ("float", "+INF"),
        ("dateTimeStamp", "2026-11-22T10:00:00Z"),
        ("yearMonthDuration", "-P1Y2M"),
        ("dayTimeDuration", "P1DT2H"),
        ("anyURI", "not a ^ reference"),
        ("string", ""),
        ("noSuchName", "anything"),
    ],
)
def test_texts_that_only_the_newer_edition_allows_are_inside(name: str, text: str):
    assert in_lexical_space(name, text)


def test_a_literal_outside_its_datatype_is_reported_with_its_place():
    bad = Literal("soon", datatype=XSD.gYear)
    (violation,) = literal_violations(Triple(EX.s, EX.p, bad))
    assert (violation.focus, violation.path, violation.value) == (EX.s, EX.p.value, bad)
    assert "'soon' is not a value of xsd:gYear" in violation.message


@pytest.mark.parametrize(
    "literal", [Literal("x"), Literal("x", language="en"), Literal("1"), Literal("x", datatype=EX.unknown)]
)
def test_other_literals_are_not_judged(literal: Literal):
    assert literal_violations(Triple(EX.s, EX.p, literal)) == ()


def test_a_geometry_literal_is_read_as_a_geometry():
    point = Literal("POINT(1 2)", datatype=GEO.wktLiteral)
    assert literal_violations(Triple(EX.s, EX.p, point)) == ()
    assert literal_violations(Triple(EX.s, EX.p, Literal("POINT(1", datatype=GEO.wktLiteral)))
