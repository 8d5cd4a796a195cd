"""A page of an ontology has all its terms and rules, links that lead somewhere, and no foreign markup."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from pyoxigraph import NamedNode

from ontology import Schema
from server.documentation.pages import ShapeSections, ontology_page, page_names
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.loading import load_shapes

ONTOLOGY = NamedNode("http://example.org/o")
TURTLE = """@prefix : <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://example.org/o> a owl:Ontology ; rdfs:label "Greens" ;
    rdfs:comment "See https://example.org/more?a=1&b=2." .
:Place a owl:Class ; rdfs:label "place"@en .
:Park a owl:Class ; rdfs:subClassOf :Place ; rdfs:label "park <script>"@en ;
    skos:definition "Green & wide."@en ; skos:altLabel "common"@en ;
    skos:hiddenLabel "lawns"@en ; skos:example "Hyde Park."@en ;
    owl:disjointWith :Road .
:Road a owl:Class ; rdfs:label "road"@en ; rdfs:seeAlso <javascript:alert(1)> .
:within a owl:ObjectProperty , owl:TransitiveProperty ;
    rdfs:domain :Park ; rdfs:range :Place ; owl:inverseOf :has .
:has a owl:ObjectProperty .
:hyde a owl:NamedIndividual , :Park ; rdfs:label "Hyde Park" .
<http://example.org/other/Park> a owl:Class .
"""
SHAPES = """@prefix : <http://example.org/shapes#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:ParkInPlace a sh:NodeShape ; sh:targetClass <http://example.org/o#Park> ;
    sh:message "A park is in a place." ;
    sh:property [ sh:path <http://example.org/o#within> ; sh:minCount 1 ] .
"""


class Outline(HTMLParser):
    """Ids, addresses and tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.addresses += [value or "" for name, value in attrs if name == "href"]

    def check(self) -> None:
        assert len(self.ids) == len(set(self.ids))
        broken = [one for one in self.addresses if one.startswith("#") and unquote(one[1:]) not in self.ids]
        assert not broken
        assert all(one.startswith(("#", "http://", "https://")) for one in self.addresses)
        assert "script" not in self.tags


@pytest.fixture
def page(tmp_path: Path) -> str:
    (tmp_path / "o.ttl").write_text(TURTLE)
    folder = tmp_path / "shapes"
    (folder / "examples" / "ParkInPlace").mkdir(parents=True)
    (folder / "examples" / "ParkInPlace" / "fail.ttl").write_text(
        "<urn:lonely> a <http://example.org/o#Park> ."
    )
    (folder / "s.ttl").write_text(SHAPES)
    sections = ShapeSections(load_shapes(folder).sources, folder)
    return ontology_page(Schema.load(tmp_path), ONTOLOGY, sections)


def test_a_page_has_terms_words_diagrams_rules_and_examples(page: str) -> None:
    Outline(page).check()
    for words in (
        "<h1>Greens</h1>",
        '<a href="https://example.org/more?a=1&amp;b=2.">',
        '<h3 id="Park">park &lt;script&gt;</h3>',
        "<p>Green &amp; wide.</p>",
        "<dt>synonyms</dt><dd>common</dd>",
        "<dt>cues</dt><dd>lawns</dd>",
        "<dt>example</dt><dd>Hyde Park.</dd>",
        '<dt>disjoint with</dt><dd><a href="#Road">road</a></dd>',
        '<dt>properties</dt><dd><a href="#within">within</a></dd>',
        '<dt>inverse of</dt><dd><a href="#has">has</a></dd>',
        "<dt>characteristics</dt><dd>transitive</dd>",
        '<dt>rules</dt><dd><a href="#ParkInPlace">ParkInPlace</a></dd>',
        'aria-label="Superclasses and subclasses of place"',
        'aria-label="Domain and range of within"',
        "<p>A park is in a place.</p>",
        "sh:minCount 1",
        "<p>Fails: fail.ttl</p><pre>&lt;urn:lonely&gt;",
    ):
        assert words in page, words


def test_two_terms_of_one_local_name_have_sections_of_their_own(page: str) -> None:
    assert {"Park", "Park-2"} <= set(Outline(page).ids)


def test_the_shipped_ontologies_have_pages_in_which_every_link_leads_somewhere() -> None:
    schema = Schema.load(SHIPPED_ONTOLOGY)
    sections = ShapeSections(load_shapes(SHIPPED_SHAPES).sources, SHIPPED_SHAPES)
    for iri in schema.ontologies:
        Outline(ontology_page(schema, iri, sections)).check()
    assert sorted(page_names(schema).values()) == ["queries.html", "urban.html"]
