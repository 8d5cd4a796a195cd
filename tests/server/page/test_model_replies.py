"""Script in a model's replies stays text: in extractions, answers to questions, and proposals for gaps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.server.page.conftest import HOSTILE, ID, URBAN, Watched, filled, watch
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

pytestmark = pytest.mark.slow

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
BELOW = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
ASKED = "Which not Westside but Eastside museums?"
"""The enumeration makes no plan of it, so that the model writes one."""


@pytest.fixture(scope="module")
def model() -> StandIn:
    """A model that says whatever a test has it say, whichever form it is asked for."""
    return StandIn(follows_schemas=False)


@pytest.fixture(scope="module")
def answering(tmp_path_factory: pytest.TempPathFactory, model: StandIn) -> Iterator[str]:
    """The address of a server with that model, which may write queries."""
    folder = tmp_path_factory.mktemp("replies")
    (folder / "urbankg.toml").write_text("ask_queries = true\n")
    flags = ("--config", str(folder / "urbankg.toml"))
    with running(model), RunningServer(folder / "data", *flags, model_url=model.url) as server:
        yield filled(server)


@pytest.fixture
def replied(browser: Browser, answering: str) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    watched = watch(context, answering)
    yield watched
    context.close()
    assert watched.wrong == []


def stays_text(page: Page) -> None:
    """The text is shown, and nothing of it became an element or ran."""
    expect(page.locator("main")).to_contain_text(HOSTILE)
    page.wait_for_timeout(300)
    assert page.locator("main img, main script").count() == 0
    assert page.title() != "taken"


def test_script_in_what_a_model_extracts_stays_text(replied: Watched, model: StandIn) -> None:
    rows = [
        {"subject": HOSTILE, "relation": "is a", "object": "museum"},
        {"subject": HOSTILE, "relation": "located in", "object": "Westside"},
        {"subject": "Clock Museum", "relation": "designed by", "object": HOSTILE},
        {"subject": "Clock Museum", "relation": HOSTILE, "object": "Westside"},
    ]
    model.answer = json.dumps({"triples": rows})
    page = replied.open("#/text")
    text = f"{HOSTILE} is a museum in Westside. The Clock Museum was designed by {HOSTILE}."
    page.locator("#text").fill(text)
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("Dry run: nothing is in the graph yet.")).to_be_visible()
    stays_text(page)
    for row in page.locator(".items button").all():
        row.focus()
    stays_text(page)
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("Committed:")).to_be_visible()
    stays_text(page)
    # What was accepted is answered, in a sentence that is about the plan in words.
    page = replied.open(f"#/ask?q={quote('Who designed the Clock Museum?')}")
    expect(page.locator("h1")).to_contain_text(HOSTILE)
    expect(page.locator(".steps li").first).to_be_visible()
    stays_text(page)
    # What was refused waits in the queue, with the model's reply.
    page = replied.open(f"#/review?text={quote('Folly')}")
    expect(page.locator("article h1")).to_be_visible()
    stays_text(page)


def test_script_in_a_query_that_a_model_writes_stays_text(replied: Watched, model: StandIn) -> None:
    words = json.dumps(HOSTILE)
    query = (
        f"SELECT ?m ?note WHERE {{ ?m a/<{BELOW}>* <{URBAN}Museum> ; <{URBAN}locatedIn> <{ID}eastside> "
        f"FILTER NOT EXISTS {{ ?m <{URBAN}locatedIn> <{ID}westside> }} BIND({words} AS ?note) }}"
    )
    model.answer = json.dumps({"sparql": query})
    page = replied.open(f"#/ask?q={quote(ASKED)}")
    expect(page.locator("h1")).to_be_visible()
    page.locator("summary", has_text="Query").click()
    expect(page.locator("#sparql")).to_have_value(query)
    stays_text(page)
    page.get_by_role("button", name="Open in Query").click()
    expect(page.locator(".CodeMirror")).to_be_visible()
    stays_text(page)


def test_script_in_a_plan_that_does_not_hold_stays_text(replied: Watched, model: StandIn) -> None:
    step = {"op": "kind", "of": HOSTILE}
    model.answer = json.dumps({"steps": [step, {"op": "list", "set": 1}], "sparql": f"SELECT {HOSTILE}"})
    page = replied.open(f"#/ask?q={quote(ASKED)}")
    expect(page.locator("h1")).to_have_text("I cannot answer this from the graph.")
    page.wait_for_timeout(300)
    assert page.locator("main img, main script").count() == 0
    assert page.title() != "taken"


def test_script_in_what_a_model_proposes_for_a_gap_stays_text(replied: Watched, model: StandIn) -> None:
    page = replied.open(f"#/ask?q={quote('Who founded the Clock Museum?')}")
    page.get_by_role("link", name="Fill it in").first.click()
    model.answer = json.dumps({"value": HOSTILE})
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator("article")).to_contain_text(HOSTILE)
    stays_text(page)
