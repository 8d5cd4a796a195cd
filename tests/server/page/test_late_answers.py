"""Answers that arrive after a person has gone on: what is seen belongs to the last choice."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Route, expect

from tests.server.page.conftest import Watched

pytestmark = pytest.mark.slow


def test_a_queue_that_arrives_late_does_not_replace_the_filtered_one(watched: Watched) -> None:
    page = watched.page
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        parts = urlsplit(route.request.url)
        if parts.path == "/review" and "max_confidence" not in parts.query:
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/review?*", hold)
    page.goto(f"{watched.site}/#/review")
    page.wait_for_timeout(500)
    assert any("offset" in route.request.url for route in waiting)
    page.locator("#f-max_confidence").select_option("0.5")
    heading, article = page.locator("h1.mid"), page.locator("article")
    expect(page.get_by_text("Nothing waits for you with these filters")).to_be_visible()
    for route in waiting:
        route.fulfill(response=route.fetch())
    page.wait_for_timeout(1000)
    assert (heading.text_content(), article.count()) == ("0 wait for you", 0)
    assert page.url.endswith("#/review?max_confidence=0.5")


def test_an_item_that_arrives_late_does_not_take_the_reader_back(watched: Watched) -> None:
    page = watched.page
    waiting: list[Route] = []
    page.route("**/review/*", lambda route: waiting.append(route))
    page.goto(f"{watched.site}/#/review")
    expect(page.locator("article h1")).to_be_visible()
    page.goto(f"{watched.site}/#/text")
    expect(page.locator("#text")).to_be_visible()
    assert waiting
    for route in waiting:
        route.fulfill(response=route.fetch())
    page.wait_for_timeout(1000)
    assert page.url.endswith("#/text")


def test_the_queue_does_not_hold_back_a_reader_who_leaves_while_it_is_shown(watched: Watched) -> None:
    """The address changes before the page hears of it; what is shown in between leaves it alone."""
    page = watched.page
    page.goto(f"{watched.site}/#/review")
    expect(page.locator("article h1")).to_be_visible()
    page.evaluate("""() => {
        const queue = document.querySelector("ukg-review");
        location.hash = "#/text";
        return queue.show(queue.items[0]);
    }""")
    expect(page.locator("#text")).to_be_visible()
    assert page.url.endswith("#/text")
