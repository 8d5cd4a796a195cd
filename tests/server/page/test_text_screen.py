"""Many texts as a job, and two geometries compared, in a real browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import FilePayload, expect

from tests.server.page.conftest import Watched

pytestmark = pytest.mark.slow

COLUMBIA = "Columbia University is a private university in Manhattan. It was founded in 1754."


def test_dropped_records_become_a_job_that_is_watched_to_its_end(watched: Watched) -> None:
    records = [
        {"text": "The Ferry Museum is a museum in Westside.", "source": "<img src=x onerror=alert(1)>"},
        {"text": "The Rope Museum is a museum in Westside. It opened on May 14, 1931.", "source": "a flyer"},
    ]
    lines = "\n".join(json.dumps(one) for one in records).encode()
    page = watched.open("#/text")
    file: FilePayload = {"name": "flyers.jsonl", "mimeType": "application/x-ndjson", "buffer": lines}
    page.locator("input[type=file]").set_input_files([file])
    expect(page.locator("h1")).to_have_text("2 of 2 texts read")
    expect(page.get_by_text("Job done")).to_be_visible()
    expect(page.locator("table.list")).to_contain_text("<img src=x")
    page.get_by_role("link", name="a flyer").click()
    expect(page.locator(".quote").first).to_contain_text("Rope Museum")
    # The job has an address of its own.
    page.go_back()
    expect(page.locator("h1")).to_have_text("2 of 2 texts read")


def test_a_file_that_is_no_list_of_records_is_refused_in_words(watched: Watched) -> None:
    page = watched.open("#/text")
    broken: FilePayload = {"name": "broken.jsonl", "mimeType": "application/x-ndjson", "buffer": b"{not json"}
    page.locator("input[type=file]").set_input_files([broken])
    expect(page.locator(".state")).to_contain_text("Line 1")


def test_two_geometries_give_their_relation_in_words_and_on_a_map(watched: Watched) -> None:
    page = watched.open("#/text")
    page.locator("summary", has_text="Compare two geometries").click()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("h2.verdict")).to_have_text("B lies inside A")
    expect(page.locator("ukg-relate .map .m-pin")).to_have_text(["A", "B"])
    page.locator("ukg-relate textarea").last.fill("POLYGON((1 2")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("ukg-relate [role=alert]")).to_be_visible()


def test_the_text_about_columbia_is_read_and_its_words_and_statements_are_linked(watched: Watched) -> None:
    page = watched.open("#/text")
    page.locator("#text").fill(COLUMBIA)
    page.get_by_role("button", name="Read it").click()
    expect(page.locator("h1")).to_contain_text("accepted")
    expect(page.locator(".items", has_text="Columbia University").first).to_contain_text("1754")
    expect(page.locator(".quote mark", has_text="Columbia University").first).to_be_visible()
    # The words in focus are outlined, and who points at words sees the statement that rests on them.
    row = page.locator(".items li", has_text="1754").first
    row.hover()
    expect(page.locator(".quote .link")).to_contain_text("1754")
    expect(row).to_have_attribute("aria-current", "true")
    other = page.locator(".items li:not([aria-current])", has_text="Manhattan").first
    other.hover()
    expect(row).not_to_have_attribute("aria-current", "true")
    # A name stays one mark, however many statements rest on its words.
    expect(page.locator(".quote mark", has_text="Columbia").first).to_have_text("Columbia University")
    page.locator(".quote span:not(:has(span))", has_text="1754").hover()
    expect(row).to_have_attribute("aria-current", "true")


def test_a_sample_can_be_tried_without_a_text_at_hand(watched: Watched) -> None:
    page = watched.open("#/text")
    page.get_by_role("button", name="Try a sample").click()
    expect(page.locator("#text")).to_have_value(re.compile("It opened on May 14, 1931"))
    expect(page.get_by_role("button", name="Try a sample")).to_have_count(0)
