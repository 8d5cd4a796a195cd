"""What a question misses, and the work that is seen while it goes on, in a real browser."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.server.page.conftest import HOSTILE, ID, URBAN, Watched
from tests.server.page.test_journeys import selected

pytestmark = pytest.mark.slow

CLOSING = "When was the Harbour Museum closed?"


def test_what_a_question_misses_is_filled_in_and_the_question_is_answered(
    watched: Watched, site: str
) -> None:
    page = watched.open(f"#/ask?q={quote(CLOSING)}")
    expect(page.locator(".note.warn")).to_contain_text("Harbour Museum")
    page.get_by_role("link", name="Fill it in").click()
    expect(page.locator("article h1")).to_contain_text("Harbour Museum closed ?")
    expect(page.locator("article").get_by_role("link", name=CLOSING)).to_be_visible()
    page.locator("#value").fill(HOSTILE)
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".state")).to_contain_text("is no value of")
    assert page.locator("main img").count() == 0
    page.locator("#value").fill("1999")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Would enter the graph:")).to_contain_text("1999")
    closed = f"SELECT ?year {{ <{ID}harbour-museum> <{URBAN}closed> ?year }}"
    assert selected(site, closed) == []
    page.get_by_role("button", name="Commit it").click()
    expect(page.get_by_text("The answer now:")).to_contain_text("1999")
    assert selected(site, closed) == ["1999"]
    page = watched.open(f"#/ask?q={quote(CLOSING)}")
    expect(page.locator("h1")).to_contain_text("1999")
    # What a person filled in has a source, but no text: the list of texts shows it nevertheless.
    page = watched.open("#/text")
    expect(page.get_by_role("region", name="Texts in the graph")).to_be_visible()


def test_a_gap_is_set_aside_with_a_reason_and_opened_again(watched: Watched) -> None:
    page = watched.open(f"#/ask?q={quote('Who is the mayor of Atlantis?')}")
    page.get_by_role("link", name="Fill it in").click()
    expect(page.locator("article h1")).to_contain_text("Atlantis")
    page.get_by_role("button", name="Set aside").click()
    page.get_by_label("Why is it not to be filled?").fill(HOSTILE)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Set aside.")).to_be_visible()
    page = watched.open("#/gaps?status=rejected")
    expect(page.locator("article .why")).to_have_text(HOSTILE)
    page.get_by_role("button", name="Open again").click()
    expect(page.get_by_text("Open again.")).to_be_visible()
    page = watched.open("#/gaps")
    expect(page.locator(".items")).to_contain_text("Atlantis")


def test_the_parts_of_a_text_are_counted_while_it_is_read(watched: Watched) -> None:
    page = watched.open("#/text")
    sentences = (f"The Museum number {n} opened on May {n}, 1931 in Westside." for n in range(1, 5))
    page.locator("#text").fill(" ".join(sentences))
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("parts read,")).to_be_visible()
    assert int(page.locator("progress").get_attribute("max") or 0) > 1
    expect(page.get_by_role("button", name="Commit")).to_be_visible()
