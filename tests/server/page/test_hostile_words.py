"""Script in what people and models write stays text on every screen and on the generated pages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.server.page.conftest import HOSTILE, ID, ROOT, URBAN, Watched, closed_before_it_opened, watch
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

pytestmark = pytest.mark.slow

FILE = "<img src=x onerror=document.title='taken'>.ttl"
FOLLY = "https://w3id.org/urbankg/folly"
WORDS = json.dumps(HOSTILE)
"""As Turtle and SPARQL write it."""
ONTOLOGY = f"""
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix dcterms: <http://purl.org/dc/terms/> .
<{FOLLY}> a owl:Ontology ; rdfs:label {WORDS}@en ; dcterms:title {WORDS}@en ; dcterms:creator {WORDS} ;
    dcterms:description {WORDS}@en ; owl:versionInfo {WORDS} .
<{FOLLY}#Folly> a owl:Class ; rdfs:subClassOf <{URBAN}Museum> ; rdfs:label {WORDS}@en ;
    skos:definition {WORDS}@en ; skos:altLabel {WORDS}@en ; rdfs:comment {WORDS}@en ;
    rdfs:seeAlso <javascript:document.title='taken'> ; rdfs:isDefinedBy <{FOLLY}> .
<{FOLLY}#relation> a owl:ObjectProperty ; rdfs:label {WORDS}@en ; skos:definition {WORDS}@en ;
    rdfs:domain <{FOLLY}#Folly> ; rdfs:range <{FOLLY}#Folly> ; rdfs:isDefinedBy <{FOLLY}> .
"""
SHAPES = f"""
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<{FOLLY}#Shape> a sh:NodeShape ; sh:targetClass <{FOLLY}#Folly> ; rdfs:label {WORDS}@en ;
    sh:property [ sh:path <{FOLLY}#relation> ; sh:maxCount 0 ; sh:name {WORDS}@en ; sh:message {WORDS}@en ] .
"""
PLACE = f"""
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix geo: <http://www.opengis.net/ont/geosparql#> .
<{ID}folly> a <{FOLLY}#Folly> ; rdfs:label {WORDS}@en ; rdfs:comment {WORDS} ;
    geo:hasDefaultGeometry <{ID}folly/geometry> .
<{ID}folly/geometry> a geo:Geometry, <http://www.opengis.net/ont/sf#Point> ;
    geo:asWKT "POINT (-73.95 40.8)"^^geo:wktLiteral .
"""


@pytest.fixture(scope="module")
def follies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose ontology, shapes, graph, queue and files have hostile names."""
    folder = tmp_path_factory.mktemp("follies")
    for kind, body in (("ontology", ONTOLOGY), ("shapes", SHAPES)):
        ignored = shutil.ignore_patterns("*.py", "__pycache__")
        shutil.copytree(ROOT / kind, folder / kind, ignore=ignored)
        (folder / kind / FILE).write_text(body, encoding="utf-8")
    flags = ("--ontology", str(folder / "ontology"), "--shapes", str(folder / "shapes"))
    model = StandIn(follows_schemas=False)
    with running(model), RunningServer(folder / "data", *flags, model_url=model.url) as server:
        turtle = {"Content-Type": "text/turtle"}
        loaded = httpx.post(server.url + "/store?default", content=PLACE, headers=turtle, timeout=60)
        assert loaded.is_success, loaded.text
        related = {
            "subject": ID + "folly",
            "predicate": FOLLY + "#relation",
            "object": {"type": "uri", "value": ID + "folly"},
        }
        evidence = closed_before_it_opened(f"It closed in {HOSTILE}.", HOSTILE)
        evidence["source"] = HOSTILE
        for body in ({"statements": [related]}, evidence):
            sent = httpx.post(server.url + "/candidates", json=body, timeout=60)
            assert len(sent.json()["rejected"]) == 1, sent.text
        yield server.url


@pytest.fixture
def visitor(browser: Browser, follies: str) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    watched = watch(context, follies)
    yield watched
    context.close()
    assert watched.wrong == []


def stays_text(page: Page, words: str = "Folly") -> None:
    """The words are shown, and nothing of them became an element or ran."""
    expect(page.locator("main")).to_contain_text(words)
    page.wait_for_timeout(300)
    assert page.locator("main img:not(.leaflet-tile), main script").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0
    assert page.title() != "taken"


@pytest.mark.parametrize(
    "place",
    [
        f"#/explore?iri={quote(ID + 'folly', safe='')}",
        "#/explore?q=folly",
        f"#/model?class={quote(FOLLY + '#Folly', safe='')}",
        "#/review",
        "#/review?status=any",
        "#/text",
        f"#/query?query={quote(f'SELECT * {{ <{ID}folly> ?p ?o }}')}",
    ],
)
def test_script_in_labels_evidence_and_sources_stays_text(visitor: Watched, place: str) -> None:
    stays_text(visitor.open(place))


def test_script_in_a_question_stays_text(visitor: Watched) -> None:
    page = visitor.open(f"#/ask?q={quote(HOSTILE)}")
    expect(page.locator("#q")).to_have_value(HOSTILE)
    stays_text(page, "I cannot answer this")


def test_script_in_the_names_of_files_of_rules_stays_text(visitor: Watched) -> None:
    stays_text(visitor.open("#/status"), FILE)
    for kind in ("ontology", "shapes"):
        page = visitor.open(f"#/model?file={quote(f'{kind}/{FILE}')}")
        stays_text(page, FILE)


def test_script_in_a_message_of_a_shape_stays_text(visitor: Watched, follies: str) -> None:
    items = httpx.get(follies + "/review", timeout=60).json()["items"]
    (item,) = (one for one in items if one["statement"]["predicate"] == FOLLY + "#relation")
    page = visitor.open(f"#/review/{item['id']}")
    expect(page.locator("article h1")).to_contain_text(HOSTILE)
    stays_text(page)


def test_script_in_names_of_jobs_and_their_texts_stays_text(visitor: Watched) -> None:
    record = {"text": f"{HOSTILE} is here.", "name": HOSTILE, "source": HOSTILE}
    file: FilePayload = {
        "name": HOSTILE + ".jsonl",
        "mimeType": "application/x-ndjson",
        "buffer": json.dumps(record).encode(),
    }
    page = visitor.open("#/text")
    page.locator("input[type=file]").set_input_files([file])
    expect(page.get_by_text("Job done")).to_be_visible()
    expect(page.locator("td", has_text="Folly")).to_be_visible()
    stays_text(page)
    stays_text(visitor.open("#/status"), HOSTILE + ".jsonl")


def test_script_in_geometries_stays_text(visitor: Watched) -> None:
    wkt = f"BIND({WORDS}^^<http://www.opengis.net/ont/geosparql#wktLiteral> AS ?wkt)"
    query = f'SELECT * {{ {wkt} BIND("POINT (1 {HOSTILE.replace(chr(34), chr(39))})" AS ?text) }}'
    page = visitor.open(f"#/query?query={quote(query)}")
    stays_text(page)
    page = visitor.open("#/text")
    page.locator("summary", has_text="Compare two geometries").click()
    page.locator("ukg-relate textarea").last.fill(f"POINT({HOSTILE}")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("ukg-relate [role=alert]")).to_be_visible()
    stays_text(page, "Compare")


@pytest.mark.parametrize("place", [f"ontology?iri={quote(FOLLY, safe='')}", "urbankg/urban", "docs"])
def test_script_on_generated_pages_does_not_run(visitor: Watched, place: str) -> None:
    page = visitor.page
    page.goto(f"{visitor.site}/{place}")
    page.wait_for_load_state("networkidle")
    if place.startswith("ontology"):
        expect(page.locator("body")).to_contain_text(HOSTILE)
        assert page.locator("img, script").count() == 0
    assert page.locator("a[href^='javascript:'], img[src=x]").count() == 0
    assert page.title() != "taken"
