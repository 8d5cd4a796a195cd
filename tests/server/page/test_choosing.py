"""Which entity a text means: chosen in Review by mouse and by keyboard, and taken back after a reload."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.server.page.conftest import ID, URBAN, Watched, watch
from tests.server.page.test_journeys import selected
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

pytestmark = pytest.mark.slow

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
KINDS = ("Clock", "Rope", "Lamp", "Salt")
CITY = "\n".join(
    f'<{ID}{kind.lower()}s> a <{URBAN}Museum> ; <{LABEL}> "Museum of {kind}s"@en .' for kind in KINDS
)


@pytest.fixture(scope="module")
def model() -> StandIn:
    return StandIn(follows_schemas=False)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, model: StandIn) -> Iterator[str]:
    """The address of a server that knows a museum of each kind."""
    with (
        running(model),
        RunningServer(tmp_path_factory.mktemp("town") / "data", model_url=model.url) as server,
    ):
        turtle = {"Content-Type": "text/turtle"}
        loaded = httpx.post(server.url + "/store?default", content=CITY, headers=turtle, timeout=60)
        assert loaded.is_success, loaded.text
        yield server.url


@pytest.fixture
def chooser(browser: Browser, town: str) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    watched = watch(context, town)
    yield watched
    context.close()
    assert watched.wrong == []


def asked_about(watched: Watched, model: StandIn, kind: str) -> Page:
    """Review, after a text that calls the museum of a kind by other words."""
    name = f"{kind} Museum"
    sentences = [f"The {name} is a museum.", f"The {name} closed in 1999."]
    rows = [(sentences[0], name, "is a", "museum"), (sentences[1], name, "closed", "1999")]
    keys = ("quote", "subject", "relation", "object")
    model.answer = json.dumps({"triples": [dict(zip(keys, row, strict=True)) for row in rows]})
    sent = httpx.post(watched.site + "/extractions", json={"text": " ".join(sentences)}, timeout=60)
    assert sent.json()["accepted"] == []
    page = watched.open(f"#/review?text={kind}")
    expect(page.get_by_role("heading", name=f"Which of these is “{name}”?")).to_be_visible()
    expect(page.locator(".bar").get_by_role("button", name="Accept")).to_have_attribute(
        "aria-disabled", "true"
    )
    return page


def closed(site: str, kind: str) -> list[str]:
    """In which years the known museum of a kind closed."""
    return selected(site, f"SELECT ?year WHERE {{ <{ID}{kind.lower()}s> <{URBAN}closed> ?year }}")


def test_the_known_entity_is_chosen_by_mouse(chooser: Watched, model: StandIn, town: str) -> None:
    page = asked_about(chooser, model, "Clock")
    page.get_by_role("button", name="This one: Museum of Clocks").click()
    expect(page.get_by_text("Accepted with your answer.")).to_be_visible()
    # The text's other statements about it are decided with it.
    expect(page.locator("h1.mid")).to_have_text("0 wait for you")
    assert closed(town, "Clock") == ["1999"]


def test_the_known_entity_is_chosen_by_keyboard(chooser: Watched, model: StandIn, town: str) -> None:
    page = asked_about(chooser, model, "Rope")
    page.keyboard.press("9")
    page.keyboard.press("a")
    assert closed(town, "Rope") == []
    page.keyboard.press("1")
    expect(page.get_by_text("Accepted with your answer.")).to_be_visible()
    assert closed(town, "Rope") == ["1999"]


def test_a_new_one_is_chosen_by_keyboard(chooser: Watched, model: StandIn, town: str) -> None:
    page = asked_about(chooser, model, "Lamp")
    expect(page.get_by_role("button", name="This one: a new one")).to_be_visible()
    page.keyboard.press("0")
    expect(page.get_by_text("Accepted with your answer.")).to_be_visible()
    assert closed(town, "Lamp") == []
    new = f"SELECT ?year WHERE {{ ?s <{LABEL}> 'Lamp Museum'@en ; <{URBAN}closed> ?year }}"
    assert selected(town, new) == ["1999"]


def test_a_decision_is_undone_after_a_reload(chooser: Watched, model: StandIn, town: str) -> None:
    page = asked_about(chooser, model, "Salt")
    page.keyboard.press("1")
    expect(page.get_by_text("Accepted with your answer.")).to_be_visible()
    assert closed(town, "Salt") == ["1999"]
    page = chooser.open("#/review")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: accepted.")).to_be_visible()
    assert closed(town, "Salt") == []
    expect(page.get_by_role("heading", name="Which of these is “Salt Museum”?")).to_be_visible()
