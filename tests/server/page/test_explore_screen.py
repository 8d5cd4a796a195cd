"""The picture of a neighborhood, its list, and the search on the map, in a real browser."""

from __future__ import annotations

from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import expect

from tests.server.page.conftest import ID, URBAN, Watched

pytestmark = pytest.mark.slow


def test_a_neighborhood_is_drawn_and_grows_and_is_there_as_a_list(watched: Watched) -> None:
    page = watched.open(f"#/explore?iri={quote(ID + 'clock-museum', safe='')}")
    card = page.locator("ukg-neighborhood")
    expect(card.locator(".network canvas").first).to_be_attached()
    count = int(card.locator("header .faint").inner_text().split()[0])
    assert count >= 1
    card.get_by_role("button", name="As a list").click()
    expect(card.locator("tbody tr")).to_have_count(count)
    card.get_by_role("button", name="More of").first.click()
    expect(card.locator("tbody tr")).not_to_have_count(count)
    card.get_by_role("button", name="As a picture").click()
    expect(card.locator(".network canvas").first).to_be_attached()


def test_a_click_in_the_picture_adds_what_a_thing_is_related_to(watched: Watched) -> None:
    page = watched.open(f"#/explore?iri={quote(ID + 'clock-museum', safe='')}")
    card = page.locator("ukg-neighborhood")
    expect(card.locator(".network canvas").first).to_be_attached()
    before = card.locator("header .faint").inner_text()
    frame = card.locator(".network")
    frame.scroll_into_view_if_needed()
    node = frame.evaluate(
        "frame => { const {sigma, graph, iri} = frame.closest('ukg-neighborhood');"
        " const other = graph.nodes().find(one => one !== iri);"
        " return sigma.framedGraphToViewport(sigma.getNodeDisplayData(other)); }"
    )
    page.wait_for_timeout(300)
    frame.click(position=node)
    expect(card.get_by_role("link", name="Open")).to_be_visible()
    expect(card.locator("header .faint")).not_to_have_text(before)


def test_what_a_search_finds_is_numbered_on_the_map_and_a_click_on_the_map_lists_what_is_there(
    watched: Watched,
) -> None:
    page = watched.open("#/explore?q=museum")
    expect(page.locator(".map .m-pin").first).to_be_visible()
    expect(page.locator("table.list .pin").first).to_have_text("1")
    page = watched.open("#/explore")
    expect(page.locator(".map canvas").first).to_be_attached()
    page.wait_for_timeout(500)
    page.locator(".map").click()
    expect(page.locator("h1")).to_contain_text("there")


def test_a_picture_is_taller_than_wide_so_that_its_names_do_not_cross(watched: Watched) -> None:
    page = watched.open(f"#/explore?iri={quote(ID + 'clock-museum', safe='')}")
    card = page.locator("ukg-neighborhood")
    expect(card.locator(".network canvas").first).to_be_attached()
    wide, tall = card.evaluate(
        "({graph}) => ['x', 'y'].map(of => { const all = graph.mapNodes((_, one) => one[of]);"
        " const mean = all.reduce((sum, one) => sum + one, 0) / all.length;"
        " return all.reduce((sum, one) => sum + (one - mean) ** 2, 0); })"
    )
    assert tall > 0
    assert wide <= tall


def test_a_thing_that_nothing_is_related_to_has_no_picture(watched: Watched) -> None:
    page = watched.open(f"#/explore?iri={quote(ID + 'folly', safe='')}")
    card = page.locator("ukg-neighborhood")
    expect(card).to_contain_text("Nothing else is related to it.")
    expect(card.get_by_role("button")).to_have_count(0)


def test_a_source_shows_its_words_in_their_sentence(watched: Watched, site: str) -> None:
    text = "It rained. The Harbour Museum was opened in 1955 by the mayor. It was full."
    start = text.index("1955")
    opened = {
        "subject": ID + "harbour-museum",
        "predicate": URBAN + "opened",
        "object": {"type": "literal", "value": "1955", "datatype": "http://www.w3.org/2001/XMLSchema#gYear"},
        "evidence": {"start": start, "end": start + 4, "quote": "1955"},
    }
    body = {"text": text, "source": "a diary", "statements": [opened]}
    assert httpx.post(site + "/candidates", json=body, timeout=60).json()["accepted"]
    page = watched.open(f"#/explore?iri={quote(ID + 'harbour-museum', safe='')}")
    page.get_by_role("button", name="1 source").click()
    proof = page.locator(".proof .quote")
    expect(proof).to_have_text("“The Harbour Museum was opened in 1955 by the mayor.”")
    expect(proof.locator(".link")).to_have_text("1955")
