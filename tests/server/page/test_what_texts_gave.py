"""What became of texts: committed as shown, nothing found, and not read to the end."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.server.page.conftest import Watched, filled, watch
from tests.server.page.test_journeys import selected
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

pytestmark = pytest.mark.slow

NOTHING = '{"triples": []}'
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@pytest.fixture(scope="module")
def model() -> StandIn:
    return StandIn(follows_schemas=False)


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory, model: StandIn) -> Iterator[str]:
    """The address of a server that gives a text three seconds."""
    folder = tmp_path_factory.mktemp("hurried")
    (folder / "urbankg.toml").write_text("extraction_timeout = 3\n")
    flags = ("--config", str(folder / "urbankg.toml"))
    with running(model), RunningServer(folder / "data", *flags, model_url=model.url) as server:
        yield filled(server)


@pytest.fixture
def reader(browser: Browser, hurried: str, model: StandIn) -> Iterator[Watched]:
    model.answer = NOTHING
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    watched = watch(context, hurried)
    yield watched
    context.close()
    model.held = 0
    assert watched.wrong == []


def read(page: Page, text: str) -> None:
    """Put a text in and have it read."""
    page.locator("#text").fill(text)
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("Dry run: nothing is in the graph yet.")).to_be_visible()


def send(page: Page, name: str, *texts: str) -> None:
    """Choose a file of texts, which becomes a job, and wait for its end."""
    lines = "\n".join(json.dumps({"text": one}) for one in texts).encode()
    file: FilePayload = {"name": name, "mimeType": "application/x-ndjson", "buffer": lines}
    page.locator("input[type=file]").set_input_files([file])
    expect(page.get_by_text("Job done")).to_be_visible()


def test_a_text_is_committed_as_shown_without_a_second_call_of_the_model(
    reader: Watched, model: StandIn, hurried: str
) -> None:
    text = "The Lantern Museum is a museum."
    row = {"quote": text, "subject": "Lantern Museum", "relation": "is a", "object": "museum"}
    model.answer = json.dumps({"triples": [row]})
    page = reader.open("#/text")
    read(page, text)
    calls = len(model.requests)
    # Another call would say something else.
    model.answer = NOTHING
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("Committed:")).to_be_visible()
    assert len(model.requests) == calls
    kind = f"SELECT ?kind WHERE {{ ?s <{LABEL}> 'Lantern Museum'@en ; a ?kind }}"
    assert [one.rpartition("#")[2] for one in selected(hurried, kind)] == ["Museum"]


def test_a_job_whose_texts_gave_nothing_says_so_in_the_list_and_in_the_detail(reader: Watched) -> None:
    page = reader.open("#/text")
    send(page, "idle.jsonl", "Nobody came on Monday.", "Nobody came on Tuesday.")
    expect(page.locator("p", has_text="idle.jsonl")).to_contain_text("2 gave nothing")
    expect(page.locator("td", has_text="nothing found")).to_have_count(2)
    expect(page.locator("td", has_text="committed")).to_have_count(0)
    page = reader.open("#/status")
    listed = page.locator("li", has_text="idle.jsonl")
    expect(listed).to_contain_text("done · 2 gave nothing")
    listed.get_by_role("link", name="idle.jsonl").click()
    expect(page.locator("h1")).to_have_text("2 of 2 texts read")


def test_a_text_that_was_not_read_to_its_end_says_where_it_stopped_and_why(
    reader: Watched, model: StandIn
) -> None:
    model.held = 1
    page = reader.open("#/text")
    read(page, "The Slow Museum is a museum that takes its time.")
    note = page.get_by_role("alert")
    expect(note).to_contain_text("Not all of the text was read")
    expect(note).to_contain_text("It stopped at “The Slow Museum is a museum")
    expect(note).to_contain_text("extraction_timeout")
    expect(page.locator("main")).not_to_contain_text("The text says nothing")


def test_a_job_says_of_each_text_where_its_reading_stopped(reader: Watched, model: StandIn) -> None:
    model.held = 1
    page = reader.open("#/text")
    send(page, "slow.jsonl", "The Late Museum is a museum that takes its time.")
    row = page.locator("tr", has_text="nothing found")
    expect(row).to_contain_text("it stopped at character 0.")
    expect(row).to_contain_text("extraction_timeout")
