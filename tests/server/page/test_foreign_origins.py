"""What pages of other origins can do to a server at the user's own machine, tried in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

pytestmark = pytest.mark.slow

OPAQUE = "data:text/html,<title>a page without an origin</title>"
FETCH = """async ([url, options]) => {
    try {
        const answer = await fetch(url, options)
        return answer.type === "opaque" ? "opaque" : `${answer.status} ${await answer.text()}`
    } catch (error) {
        return "not read"
    }
}"""
HIDDEN = ("opaque", "not read")
"""Chromium refuses some answers to a page without an origin, also those that it would only hide."""
JSON = {"content-type": "application/json"}
TEXT = '{"text": "Bowne Hall opened in 1931.", "commit": true}'
QUESTION = '{"question": "Which museums are there?", "dialogue": "plain"}'
INSERT = "INSERT DATA { <urn:a> <urn:b> <urn:c> }"
SPENDING = [
    ("/extractions", TEXT),
    ("/ask", QUESTION),
    ("/models/probe", "{}"),
    ("/sources", '{"records": []}'),
]
SECRET = (
    "/review",
    "/documents",
    "/dump",
    "/store?default",
    "/changes",
    "/rules",
    "/access",
    "/openapi.json",
)


class Blank(BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self) -> None:
        """Answer it at any address."""
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@dataclass
class Site:
    """A server, the model that it asks, and a page of another port, which is another origin."""

    url: str
    model: StandIn
    foreign: str

    def revision(self) -> int:
        """That of the graph."""
        return int(httpx.get(self.url + "/healthz", timeout=60).json()["revision"])


@pytest.fixture(scope="module")
def foreign() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Blank) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, foreign: str) -> Iterator[Site]:
    """A server as it is without settings."""
    model = StandIn()
    folder = tmp_path_factory.mktemp("origins")
    with running(model), RunningServer(folder / "data", model_url=model.url) as server:
        yield Site(server.url, model, foreign)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(60_000)
    yield page
    context.close()


def fetched(page: Page, url: str, **options: Any) -> str:
    """What a page gets to see of an answer."""
    return str(page.evaluate(FETCH, [url, options]))


@pytest.mark.parametrize("origin", ["null", "foreign"])
def test_a_page_of_another_origin_reads_nothing(page: Page, closed: Site, origin: str) -> None:
    page.goto(OPAQUE if origin == "null" else closed.foreign)
    assert page.evaluate("origin") == ("null" if origin == "null" else closed.foreign)
    for path in (*SECRET, "/sparql?query=ASK%20%7B%7D", "/healthz"):
        assert fetched(page, closed.url + path) == "not read", path


@pytest.mark.parametrize("origin", ["null", "foreign"])
def test_a_page_of_another_origin_spends_no_model_and_writes_nothing(
    page: Page, closed: Site, origin: str
) -> None:
    page.goto(OPAQUE if origin == "null" else closed.foreign)
    asked, revision = len(closed.model.requests), closed.revision()
    for path, body in SPENDING:
        # With the media type the browser asks first; without, it sends the request and hides the answer.
        sent = {"method": "POST", "body": body}
        assert fetched(page, closed.url + path, headers=JSON, **sent) == "not read", path
        assert fetched(page, closed.url + path, mode="no-cors", **sent) in HIDDEN, path
    form = {"content-type": "application/x-www-form-urlencoded"}
    update = {"method": "POST", "mode": "no-cors", "headers": form, "body": f"update={INSERT}"}
    for path in ("/update", "/sparql"):
        assert fetched(page, closed.url + path, **update) in HIDDEN

    assert len(closed.model.requests) == asked
    assert closed.revision() == revision


def test_the_own_page_reads_and_asks(page: Page, closed: Site) -> None:
    page.goto(closed.url)
    asked = len(closed.model.requests)
    assert fetched(page, closed.url + "/review").startswith("200 ")
    sent = {"method": "POST", "headers": JSON, "body": TEXT}
    fetched(page, closed.url + "/extractions", **sent)
    assert len(closed.model.requests) > asked


def test_an_origin_that_is_named_reads_the_endpoint_and_no_more(
    page: Page, foreign: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("named")
    (folder / "urbankg.toml").write_text(f'cors_origins = "{foreign}"\n')
    model = StandIn()
    with (
        running(model),
        RunningServer(
            folder / "data", "--config", str(folder / "urbankg.toml"), model_url=model.url
        ) as server,
    ):
        page.goto(foreign)
        assert '"boolean":true' in fetched(page, server.url + "/sparql?query=ASK%20%7B%7D")
        for path in SECRET:
            assert fetched(page, server.url + path) == "not read", path
        # The browser asks first (a preflight) whether the page may send this media type and a key.
        query = {"content-type": "application/sparql-query", "x-api-key": "unknown"}
        found = fetched(page, server.url + "/sparql", method="POST", headers=query, body="ASK {}")
        assert found.startswith("401 {"), "an error is read, too"
        del query["x-api-key"]
        found = fetched(page, server.url + "/sparql", method="POST", headers=query, body="ASK {}")
        assert '"boolean":true' in found
        assert fetched(page, server.url + "/sparql?query=ASK").startswith("400 {")
        update = {"content-type": "application/sparql-update"}
        for path in ("/sparql", "/update"):
            sent = fetched(page, server.url + path, method="POST", headers=update, body=INSERT)
            assert sent == "not read" or sent.startswith("403 {"), sent
        assert fetched(page, server.url + "/sparql", method="DELETE") == "not read"
        names = page.evaluate(
            "async (url) => [...(await fetch(url)).headers.keys()]", server.url + "/sparql?query=ASK%20%7B%7D"
        )
        assert {"x-request-id", "x-api-version"} <= set(names)
        asked = len(model.requests)
        for path, body in SPENDING:
            assert fetched(page, server.url + path, method="POST", headers=JSON, body=body) == "not read"
        assert len(model.requests) == asked
        page.goto(OPAQUE)
        assert fetched(page, server.url + "/sparql?query=ASK%20%7B%7D") == "not read"
