"""The sample city says what it promises, in terms that the ontology knows."""

import json
from collections import Counter
from pathlib import Path

import pytest
import shapely
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse
from pyproj import Geod

from server.data.feature_mapping import slug
from server.data.sample.city import sample_city, sample_texts

ROOT = Path(__file__).parents[4]
BASE = "https://example.org/place/"
OWL = "http://www.w3.org/2002/07/owl#"
URBAN = "https://w3id.org/urbankg/urban#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
ALIAS = NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
HAS_GEOMETRY = NamedNode("http://www.opengis.net/ont/geosparql#hasDefaultGeometry")
AS_WKT = NamedNode("http://www.opengis.net/ont/geosparql#asWKT")
COLUMBIA = "Columbia University is a private Ivy League research university in New York City."


@pytest.fixture(scope="module")
def city() -> list[Triple]:
    return list(sample_city(BASE))


@pytest.fixture(scope="module")
def shapes(city: list[Triple]) -> dict[str, shapely.Geometry]:
    """The geometry of each feature, by the feature's IRI."""
    return {
        triple.subject.value.removesuffix("/geometry"): shapely.from_wkt(triple.object.value)
        for triple in city
        if triple.predicate == AS_WKT
    }


@pytest.fixture(scope="module")
def classes(city: list[Triple]) -> dict[str, str]:
    """The local name of each feature's class, by the feature's IRI."""
    return {
        triple.subject.value: triple.object.value.removeprefix(URBAN)
        for triple in city
        if triple.predicate == RDF_TYPE and triple.object.value.startswith(URBAN)
    }


@pytest.fixture(scope="module")
def declared() -> set[tuple[str, str]]:
    """The terms that the shipped ontology declares, each with the name of a kind it is declared as."""
    graph = parse(path=str(ROOT / "ontology" / "urban.ttl"), format=RdfFormat.TURTLE)
    return {
        (quad.subject.value, quad.object.value.removeprefix(OWL))
        for quad in graph
        if quad.predicate == RDF_TYPE and quad.object.value.startswith(OWL)
    }


def test_the_city_has_enough_of_everything(
    shapes: dict[str, shapely.Geometry], classes: dict[str, str]
) -> None:
    forms = Counter(shape.geom_type for shape in shapes.values())
    kinds = Counter(classes.values())
    assert forms["Point"] >= 80
    assert forms["LineString"] >= 12
    assert kinds["Borough"] == 5
    assert kinds["Neighborhood"] > 200
    assert kinds["City"] == 1
    assert kinds["Museum"] >= 15


def test_every_geometry_is_valid_and_in_new_york(shapes: dict[str, shapely.Geometry]) -> None:
    surroundings = shapely.box(-74.3, 40.45, -73.65, 40.95)
    for iri, shape in shapes.items():
        assert shape.is_valid, iri
        assert not shape.is_empty, iri
        assert surroundings.covers(shape), iri


def test_every_term_of_the_domain_is_in_the_ontology(
    city: list[Triple], declared: set[tuple[str, str]]
) -> None:
    for triple in city:
        predicate = triple.predicate.value
        if predicate.startswith(URBAN):
            kind = "DatatypeProperty" if isinstance(triple.object, Literal) else "ObjectProperty"
            assert (predicate, kind) in declared
        if triple.predicate == RDF_TYPE and triple.object.value.startswith(URBAN):
            assert (triple.object.value, "Class") in declared


def test_identifiers_and_names_are_unique(city: list[Triple]) -> None:
    labeled = Counter(triple.subject for triple in city if triple.predicate == LABEL)
    names = Counter(
        triple.object.value.casefold()
        for triple in city
        if triple.predicate in (LABEL, ALIAS) and isinstance(triple.object, Literal)
    )
    geometries = Counter(triple.object for triple in city if triple.predicate == HAS_GEOMETRY)
    assert [iri for iri, count in labeled.items() if count > 1] == []
    assert [name for name, count in names.items() if count > 1] == []
    assert [iri for iri, count in geometries.items() if count > 1] == []


def test_every_link_leads_to_a_feature_of_the_city(city: list[Triple]) -> None:
    features = {triple.subject for triple in city if triple.predicate == LABEL}
    for triple in city:
        if triple.predicate.value.startswith(URBAN) and isinstance(triple.object, NamedNode):
            assert triple.object in features, triple


def test_what_is_stated_of_place_agrees_with_the_geometry(
    city: list[Triple], shapes: dict[str, shapely.Geometry]
) -> None:
    checked = 0
    for triple in city:
        if not isinstance(triple.object, NamedNode) or not triple.predicate.value.startswith(URBAN):
            continue
        inner, outer = shapes.get(triple.subject.value), shapes.get(triple.object.value)
        if inner is not None and outer is not None:
            assert outer.covers(inner), triple
            checked += 1
    assert checked > 400


def test_neighbors_touch_and_never_overlap(
    shapes: dict[str, shapely.Geometry], classes: dict[str, str]
) -> None:
    boroughs = [shapes[iri] for iri, kind in classes.items() if kind == "Borough"]
    for index, first in enumerate(boroughs):
        for second in boroughs[index + 1 :]:
            assert first.disjoint(second) or first.touches(second)
    city = shapes[next(iri for iri, kind in classes.items() if kind == "City")]
    assert city.equals(shapely.union_all(boroughs))


def test_several_museums_of_manhattan_are_within_three_kilometers_of_columbia(
    shapes: dict[str, shapely.Geometry], classes: dict[str, str]
) -> None:
    columbia, manhattan = shapes[BASE + "columbia-university"], shapes[BASE + "borough-manhattan"]
    museums = [shapes[iri] for iri, kind in classes.items() if kind == "Museum"]
    ellipsoid = Geod(ellps="WGS84")
    near = [
        place
        for place in museums
        if manhattan.covers(place) and ellipsoid.inv(columbia.x, columbia.y, place.x, place.y)[2] <= 3000
    ]
    assert len(near) >= 3


def test_the_city_is_the_same_each_time(city: list[Triple]) -> None:
    assert list(sample_city(BASE)) == city


def test_there_are_twelve_texts_and_the_first_is_columbias() -> None:
    texts = dict(sample_texts())
    assert len(texts) == 12
    assert texts["01-columbia"].startswith(COLUMBIA)
    assert all(30 <= len(text.split()) <= 90 for text in texts.values())


def test_gold_of_the_texts_quotes_them() -> None:
    lines = (
        (ROOT / "server" / "data" / "sample" / "texts" / "gold.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    texts = dict(sample_texts())
    for entry in map(json.loads, lines):
        assert texts[entry["id"]] == entry["text"]
        for triple in entry["triples"]:
            assert triple["subject"] in entry["text"]
            assert triple["object"] in entry["text"]
    assert len(lines) == len(texts)


def test_gold_sentences_use_the_words_of_the_ontology() -> None:
    graph = parse(path=str(ROOT / "ontology" / "urban.ttl"), format=RdfFormat.TURTLE)
    words = {quad.object.value for quad in graph if quad.predicate == LABEL} | {"is a"}
    path = ROOT / "research" / "urban" / "urban_gold.jsonl"
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(entries) >= 60
    assert sum(not entry["triples"] for entry in entries) >= 8
    assert len({entry["text"] for entry in entries}) == len(entries)
    for entry in entries:
        for triple in entry["triples"]:
            assert triple["relation"] in words, entry["id"]
            assert triple["subject"] in entry["text"], entry["id"]
            assert triple["object"] in entry["text"], entry["id"]


def test_slugs_hold_only_letters_digits_and_hyphens() -> None:
    assert slug("Hell's Kitchen") == "hells-kitchen"
    assert slug("Calvary & Mount Zion Cemeteries") == "calvary-mount-zion-cemeteries"
