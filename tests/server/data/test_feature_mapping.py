"""The mapping file: what it states of a feature, and what it says of its own mistakes."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from server.data.feature_files import Record
from server.data.feature_mapping import (
    FeatureMapping,
    MappingError,
    ValueProblem,
    as_literal,
    as_text,
    read_feature_mapping,
)
from sparql.model.vocabulary import GEO, RDF, RDFS, SKOS, XSD, Namespace
from tests.support.drawn_features import FOUNTAIN

EX = Namespace("http://example.org/schema#")
BASE = "http://example.org/id/"
HEAD = '[prefixes]\nex = "http://example.org/schema#"\n[[layers]]\niri = "{gid}"\n'


def read(tmp_path: Path, text: str) -> FeatureMapping:
    path = tmp_path / "map.toml"
    path.write_text(text, encoding="utf-8")
    return read_feature_mapping(path)


def stated(tmp_path: Path, text: str, values: dict[str, Any], geometry: Any = None) -> set[Triple]:
    rules = read(tmp_path, text).layers[0]
    record = Record("1", values, geometry)
    kind = rules.class_of(record)
    assert kind is not None
    return set(rules.triples(record, rules.iri_of(record, BASE), kind, BASE))


def test_columns_become_class_names_properties_and_geometry(tmp_path: Path) -> None:
    text = HEAD + (
        'class = "ex:Place"\nlabel = "name"\naliases = ["alt"]\nlanguage = "de"\n'
        '[[layers.properties]]\ncolumn = "year"\nproperty = "ex:opened"\ndatatype = "xsd:gYear"\n'
        '[[layers.properties]]\ncolumn = "in"\nproperty = "ex:within"\nfeature = "borough/{in}"\n'
        '[[layers.properties]]\ncolumn = "note"\nproperty = "ex:note"\nlanguage = "fr"\n'
        '[[layers.properties]]\ncolumn = "empty"\nproperty = "ex:empty"\n'
    )
    values = {
        "gid": 7,
        "name": "Brunnen",
        "alt": "Quelle; Born",
        "year": 1873,
        "in": "Sankt Georg",
        "note": "a",
        "empty": None,
    }
    place, geometry = NamedNode(BASE + "7"), NamedNode(BASE + "7/geometry")
    assert stated(tmp_path, text, values, FOUNTAIN) == {
        Triple(place, RDF.type, EX.Place),
        Triple(place, RDFS.label, Literal("Brunnen", language="de")),
        Triple(place, SKOS.altLabel, Literal("Quelle", language="de")),
        Triple(place, SKOS.altLabel, Literal("Born", language="de")),
        Triple(place, EX.opened, Literal("1873", datatype=XSD.gYear)),
        Triple(place, EX.within, NamedNode(BASE + "borough/sankt-georg")),
        Triple(place, EX.note, Literal("a", language="fr")),
        Triple(place, GEO.hasGeometry, geometry),
        Triple(place, GEO.hasDefaultGeometry, geometry),
        Triple(geometry, RDF.type, GEO.Geometry),
        Triple(geometry, RDF.type, NamedNode("http://www.opengis.net/ont/sf#Point")),
        Triple(geometry, GEO.asWKT, Literal("POINT (-73.9708 40.774)", datatype=GEO.wktLiteral)),
    }


@pytest.mark.parametrize("written", ["ex:Place", EX.Place.value, f"<{EX.Place.value}>"])
def test_a_class_is_written_with_a_prefix_or_as_a_whole_iri(tmp_path: Path, written: str) -> None:
    found = stated(tmp_path, HEAD + f'class = "{written}"\n', {"gid": 7})
    assert found == {Triple(NamedNode(BASE + "7"), RDF.type, EX.Place)}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"gid": 1, "leisure": "park"}, EX.Park),
        ({"gid": 1, "leisure": "dance;garden"}, EX.Park),
        ({"gid": 1, "shop": "books"}, EX.Shop),
        ({"gid": 1, "leisure": "pitch"}, None),
    ],
)
def test_the_first_class_that_fits_is_taken_and_others_are_passed_over(
    tmp_path: Path, values: dict[str, Any], expected: NamedNode | None
) -> None:
    text = HEAD + (
        '[[layers.classes]]\ncolumn = "leisure"\nvalues = ["park", "garden"]\nclass = "ex:Park"\n'
        '[[layers.classes]]\ncolumn = "shop"\nclass = "ex:Shop"\n'
    )
    assert read(tmp_path, text).layers[0].class_of(Record("1", values, None)) == expected


def test_names_without_latin_letters_still_make_an_iri(tmp_path: Path) -> None:
    rules = read(tmp_path, HEAD.replace("{gid}", "{name}") + 'class = "ex:Place"\n').layers[0]
    assert rules.iri_of(Record("1", {"name": "東京"}, None), BASE).value == BASE + "%E6%9D%B1%E4%BA%AC"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[layers]\n", "not valid TOML"),
        ("[[layers]]\nclass = 'xsd:a'\n", "'iri' is missing"),
        ("crs = 'EPSG:4326'\n", "'layers' is missing"),
        (HEAD, "neither 'class' nor"),
        (HEAD + 'class = "city:Place"\n', "Declare 'city'"),
        (HEAD + 'class = "ex:Place"\nlabels = "name"\n', "has the key 'labels'. Known are"),
        (HEAD + 'class = "ex:Place"\n[[layers.properties]]\ncolumn = "a"\n', "'property' is missing"),
    ],
)
def test_a_mapping_with_a_mistake_says_what_to_fix(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MappingError, match=message.replace(".", r"\.")) as error:
        read(tmp_path, text)
    assert "map.toml" in str(error.value)


def test_an_iri_without_a_value_is_reported(tmp_path: Path) -> None:
    rules = read(tmp_path, HEAD + 'class = "ex:Place"\n').layers[0]
    with pytest.raises(MappingError, match="no value in 'gid'"):
        rules.iri_of(Record("1", {"gid": None}, None), BASE)


@pytest.mark.parametrize(
    ("value", "datatype", "expected"),
    [
        ("a", None, Literal("a")),
        (3, None, Literal("3", datatype=XSD.integer)),
        (2.5, None, Literal("2.5", datatype=XSD.double)),
        (True, None, Literal("true", datatype=XSD.boolean)),
        (Decimal("2.50"), None, Literal("2.50", datatype=XSD.decimal)),
        (date(2020, 2, 1), None, Literal("2020-02-01", datatype=XSD.date)),
        (
            datetime(2020, 2, 1, 8, tzinfo=UTC),
            None,
            Literal("2020-02-01T08:00:00+00:00", datatype=XSD.dateTime),
        ),
        (5.0, XSD.integer, Literal("5", datatype=XSD.integer)),
        ("yes", XSD.boolean, Literal("true", datatype=XSD.boolean)),
        ("0", XSD.boolean, Literal("false", datatype=XSD.boolean)),
        (datetime(2020, 2, 1, 8, tzinfo=UTC), XSD.date, Literal("2020-02-01", datatype=XSD.date)),
        (date(2020, 2, 1), XSD.gYear, Literal("2020", datatype=XSD.gYear)),
        (date(2020, 2, 1), XSD.dateTime, Literal("2020-02-01T00:00:00", datatype=XSD.dateTime)),
        (" 12 ", XSD.decimal, Literal("12", datatype=XSD.decimal)),
    ],
)
def test_values_become_literals_of_their_kind(
    value: Any, datatype: NamedNode | None, expected: Literal
) -> None:
    assert as_literal(value, datatype) == expected


@pytest.mark.parametrize(("value", "datatype"), [(2.5, XSD.integer), ("maybe", XSD.boolean)])
def test_a_value_that_does_not_fit_its_datatype_is_reported(value: Any, datatype: NamedNode) -> None:
    with pytest.raises(ValueProblem, match="xsd:"):
        as_literal(value, datatype)


@pytest.mark.parametrize("value", [None, "", "  ", float("nan")])
def test_nothing_is_no_text(value: Any) -> None:
    assert as_text(value) == ""
