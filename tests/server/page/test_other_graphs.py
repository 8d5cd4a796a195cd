"""The page over a graph that is no city, while it is empty and after, and what it says of wrong addresses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from server.http.access.keys import KeyStore, Scope
from tests.server.page.conftest import Watched, watch
from tests.support.running_server import RunningServer

pytestmark = pytest.mark.slow

B, SITE = "https://example.org/building#", "https://example.org/site/"
ONTOLOGY = f"""@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix b: <{B}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<https://example.org/building> a owl:Ontology ; rdfs:label "Building"@en .
b:Unit a owl:Class ; rdfs:label "air handling unit"@en .
b:Room a owl:Class ; rdfs:label "room"@en .
b:feeds a owl:ObjectProperty ; rdfs:label "feeds"@en ; rdfs:domain b:Unit ; rdfs:range b:Room .
b:installed a owl:DatatypeProperty ; rdfs:label "installed"@en ; rdfs:domain b:Unit ;
  rdfs:range xsd:dateTime .
"""
DATA = f"""@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix b: <{B}> . @prefix i: <{SITE}> .
i:u1 a b:Unit ; rdfs:label "AHU 1"@en ; b:feeds i:r1 , i:r2 ;
  b:installed "2019-05-04T10:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
i:r1 a b:Room ; rdfs:label "Room 101"@en . i:r2 a b:Room ; rdfs:label "Room 102"@en .
"""
UNIT = quote(SITE + "u1", safe="")


@pytest.fixture(scope="module")
def building(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the ontology of buildings, and nothing in it yet."""
    folder = tmp_path_factory.mktemp("building")
    (folder / "ontology").mkdir()
    (folder / "shapes").mkdir()
    (folder / "ontology/building.ttl").write_text(ONTOLOGY, encoding="utf-8")
    flags = ("--ontology", str(folder / "ontology"), "--shapes", str(folder / "shapes"))
    with RunningServer(folder / "data", *flags) as server:
        yield server.url


@pytest.fixture
def inside(browser: Browser, building: str) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    watched = watch(context, building)
    yield watched
    context.close()
    assert watched.wrong == []


def test_every_screen_of_an_empty_graph_offers_a_step(inside: Watched) -> None:
    for screen, step in (
        ("", "Add a text"),
        ("#/review", "Add a text"),
        ("#/gaps", "Ask one"),
        ("#/status", "Add a text"),
    ):
        page = inside.open(screen)
        expect(page.locator("main").get_by_role("link", name=step).first).to_be_visible()
    page = inside.open("#/explore")
    expect(page.locator("h1")).to_have_text("What the graph knows")
    expect(page.locator(".map")).to_have_count(0)


def test_a_graph_without_places_has_examples_that_are_answered(inside: Watched, building: str) -> None:
    sent = httpx.post(building + "/store?default", content=DATA, headers={"Content-Type": "text/turtle"})
    assert sent.is_success, sent.text
    page = inside.open()
    expect(page.locator("h1")).to_have_text("Ask about this graph")
    examples = page.locator(".start .chip")
    expect(examples).to_have_count(3)
    for words in examples.all_inner_texts():
        page = inside.open(f"#/ask?q={quote(words)}")
        expect(page.locator("h1")).not_to_contain_text("cannot")
        expect(page.locator(".steps li").first).to_be_visible()
    page = inside.open("#/explore")
    page.locator(".chip", has_text="AHU 1").click()
    expect(page.locator("h1")).to_have_text("AHU 1")
    expect(page.locator(".facts").first).to_contain_text("May 4, 2019, 10:00")
    page.get_by_role("link", name="Ask about it").click()
    expect(page.locator("h1")).to_contain_text("AHU 1 is an air handling unit")
    page = inside.open(f"#/model?class={quote(B + 'Unit', safe='')}")
    expect(page.get_by_role("row", name="installed")).to_contain_text("a date with time")
    expect(page.locator("h1").first).to_have_text("2 kinds, 2 properties, 0 rules")


def test_a_wrong_address_is_said_in_words_for_people(inside: Watched) -> None:
    for place, words in (
        ("#/nowhere", "This address leads to no part of the page."),
        ("#/review/none", "There is no review item"),
        ("#/gaps/none", "There is no gap"),
        ("#/text/none", "There is no document none."),
        ("#/model?file=shapes/none.ttl", "No shapes file 'none.ttl' is in force."),
        (f"#/model?class={quote(B + 'None', safe='')}", "The ontology does not have this kind."),
        (f"#/explore?iri={quote(SITE + 'none', safe='')}", "The graph does not know this address."),
        ("#/explore?iri=%3Cno%20iri%3E", "This is not an address"),
    ):
        page = inside.open(place)
        expect(page.locator("main")).to_contain_text(words)
        assert "GET /" not in page.locator("main").inner_text(), place


def test_a_server_that_is_slow_or_gone_is_said(inside: Watched) -> None:
    page = inside.open()
    page.route("**/ask", lambda route: route.abort())
    page.locator("#q").fill("How many rooms are there?")
    page.keyboard.press("Enter")
    expect(page.locator(".state")).to_contain_text("The server does not answer.")
    inside.wrong[:] = [one for one in inside.wrong if "net::ERR_FAILED" not in one]
    page.unroute_all()
    page.route("**/ask", lambda route: None)
    page.keyboard.press("Enter")
    expect(page.locator(".state .working")).to_be_visible()


def test_a_closed_graph_says_which_key_it_needs(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "urbankg.toml").write_text("open_reads = false\n")
    with RunningServer(tmp_path / "data", "--config", str(tmp_path / "urbankg.toml")) as server:
        tokens = {scope: create_key(server, scope.value, [scope]) for scope in (Scope.READ, Scope.EXTRACT)}
        context = browser.new_context()
        watched = watch(context, server.url)
        for screen in ("", "#/review", "#/gaps", "#/explore?q=x", "#/query", "#/model", "#/status", "#/text"):
            page = watched.open(screen)
            expect(page.locator("h1")).to_have_text("This graph is not open to all")
        sign_in(page, tokens[Scope.EXTRACT])
        expect(page.locator("h1")).to_have_text("What does a text say?")
        page.get_by_role("link", name="Review").click()
        expect(page.locator("main")).to_contain_text("does not have the scope “read”")
        page.get_by_role("button", name="Sign out").click()
        sign_in(page, tokens[Scope.READ])
        expect(page.locator("h1")).to_have_text("0 wait for you")
        # The key lasts for the tab, also after a reload, and the screen too.
        page.reload()
        expect(page.locator("h1")).to_have_text("0 wait for you")
        context.close()
        assert watched.wrong == []


def sign_in(page: Page, token: str) -> None:
    """By keyboard alone."""
    page.locator(".tools button", has_text="Sign in").focus()
    page.keyboard.press("Enter")
    page.keyboard.type(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def create_key(server: RunningServer, name: str, scopes: list[Scope]) -> str:
    """The token of a new key."""
    keys = KeyStore(server.data)
    _, token = keys.create(name, scopes)
    keys.close()
    return token
