"""Status: verdicts by rule over time, and slow queries, whose texts only their senders and admins see."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from server.http.access.keys import Scope
from tests.server.page.conftest import URBAN, Watched, filled, watch
from tests.server.page.test_journeys import create_key
from tests.support.running_server import RunningServer

pytestmark = pytest.mark.slow

PAIRS = "SELECT (COUNT(*) AS ?pairs) WHERE { ?one ?p ?x . ?other ?q ?y . ?third ?r ?z }"


def run_into_the_limit(site: str, token: str | None = None) -> None:
    """A query that takes as long as it may."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    sent = {"query": PAIRS, "timeout": "4"}
    answer = httpx.post(site + "/sparql", data=sent, headers=headers, timeout=60)
    assert answer.status_code == 504


def test_verdicts_are_shown_by_rule_and_period(watched: Watched) -> None:
    page = watched.open("#/status")
    card = page.locator(".card", has=page.get_by_role("heading", name="Verdicts by rule"))
    row = card.get_by_role("row", name="opened before closed")
    expect(row).to_contain_text("%")
    expect(row.locator("svg rect.no").first).to_be_attached()
    expect(row.locator("svg")).to_have_attribute("aria-label", re_refused())
    card.get_by_role("button", name="24 hours").focus()
    page.keyboard.press("Enter")
    expect(card.get_by_role("button", name="24 hours")).to_have_attribute("aria-pressed", "true")
    expect(row.locator("svg")).to_have_attribute("aria-label", re_refused("UTC"))
    row.get_by_role("link").click()
    expect(page.locator("article h1")).to_be_visible()


def re_refused(time: str = r"\d\d\d\d-\d\d-\d\d") -> re.Pattern[str]:
    """The trend in words, for who does not see it."""
    return re.compile(rf"{time}: \d+ refused of \d+")


def test_a_slow_query_is_listed_and_opens_in_query(watched: Watched, site: str) -> None:
    run_into_the_limit(site)
    page = watched.open("#/status")
    # On a busy machine the page's own queries are slow as well.
    row = slow_queries(page).locator("li", has_text="?pairs")
    expect(row).to_contain_text("ended at its time limit")
    row.locator("summary").click()
    expect(row.locator("pre")).to_have_text(PAIRS)
    row.get_by_role("link", name="Run it in Query").click()
    expect(page.locator(".CodeMirror")).to_contain_text("?pairs")


def test_the_text_of_a_slow_query_is_not_shown_to_others(browser: Browser, tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        site = filled(server)
        reader, other, admin = (
            create_key(server, name, scope)
            for name, scope in (("reader", Scope.READ), ("other", Scope.REVIEW), ("root", Scope.ADMIN))
        )
        run_into_the_limit(site, reader)
        for token, is_shown in ((None, False), (other, False), (reader, True), (admin, True)):
            context = browser.new_context()
            watched = watch(context, site)
            page = watched.open()
            if token is not None:
                page.locator(".tools button", has_text="Sign in").click()
                page.locator("#key").fill(token)
                page.locator("#key").press("Enter")
                expect(page.get_by_role("button", name="Sign out")).to_be_visible()
            page.goto(f"{site}/#/status")
            card = slow_queries(page)
            if is_shown:
                expect(card.locator("li", has_text="?pairs")).to_be_visible()
            else:
                expect(card).to_contain_text("A query of another client")
                assert "?pairs" not in page.content()
            context.close()
            assert watched.wrong == []


def test_the_sizes_of_store_and_indexes_are_shown(watched: Watched) -> None:
    page = watched.open("#/status")
    expect(page.get_by_role("row", name="on disk")).to_have_text(
        re.compile(r"graph [\d.]+ MB, log of changes [\d.]+ MB")
    )
    expect(page.get_by_role("row", name="indexes")).to_have_text(re.compile(r"\d+ names, \d+ geometries"))


def test_a_date_is_called_so_among_what_can_be_said(watched: Watched) -> None:
    page = watched.open(f"#/model?class={quote(URBAN + 'Museum', safe='')}")
    expect(page.get_by_role("row", name="opened")).to_contain_text("a date, a month, or a year")
    expect(page.locator(".facts").first).not_to_contain_text("a value")


def test_what_is_near_is_listed_with_the_nearest_first(watched: Watched) -> None:
    page = watched.open(f"#/ask?q={quote('Which museums are within 5 km of Mill Park?')}")
    away = page.locator("table.list td.right")
    expect(away.first).to_be_visible()
    found = [meters_of(words) for words in away.all_inner_texts()]
    assert len(found) > 1
    assert found == sorted(found)
    numbers = page.locator("table.list .pin").all_inner_texts()
    assert numbers == [str(number + 1) for number in range(len(numbers))]


def meters_of(words: str) -> float:
    """A length as the list has it."""
    if words == "there":
        return 0
    number, unit = words.split()
    return float(number) * (1000 if unit == "km" else 1)


def slow_queries(page: Page) -> Locator:
    """The card of the slow queries."""
    return page.locator(".card", has=page.get_by_role("heading", name="Slow queries"))
