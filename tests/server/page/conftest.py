"""A real server with the mini city, and a headless Chromium that watches what the page does."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.support.running_server import RunningServer

ROOT = Path(__file__).parents[3]
CITY = ROOT / "tests/data/mini_city.ttl"
ID = "https://w3id.org/urbankg/id/"
URBAN = "https://w3id.org/urbankg/urban#"
HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>Folly"
POSITION = re.compile(r"\b(10(?:\.\d+)?) (50(?:\.\d+)?)\b")
# The embedded model takes its seconds.
expect.set_options(timeout=60_000)
TEXT = "The Clock Museum opened in 1931. It closed in 1925 for want of visitors."


def closed_before_it_opened(text: str, quote: str) -> dict[str, Any]:
    """Candidates that a shape refuses: the museum closed in 1925."""
    start = text.index(quote)
    return {
        "text": text,
        "source": "a leaflet",
        "statements": [
            {
                "subject": ID + "clock-museum",
                "predicate": URBAN + "closed",
                "object": {
                    "type": "literal",
                    "value": quote,
                    "datatype": "http://www.w3.org/2001/XMLSchema#gYear",
                },
                "evidence": {"start": start, "end": start + len(quote), "quote": quote},
                "confidence": 0.88,
            }
        ],
    }


def in_new_york(position: re.Match[str]) -> str:
    """The same position in a city that the shapes are made for."""
    return f"{float(position[1]) - 83.98:.4f} {float(position[2]) - 9.25:.4f}"


def filled(server: RunningServer) -> str:
    """Load the mini city, a place with a hostile name, and a statement that waits; the server's address."""
    hostile = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
    more = f"""
        <{ID}folly> a <{URBAN}Museum> ; <http://www.w3.org/2000/01/rdf-schema#label> "{hostile}"@en ;
            <http://www.w3.org/2000/01/rdf-schema#seeAlso> <javascript:document.title=1> ;
            <http://www.opengis.net/ont/geosparql#hasDefaultGeometry> <{ID}folly/geometry> .
        <{ID}folly/geometry> a <http://www.opengis.net/ont/geosparql#Geometry>,
            <http://www.opengis.net/ont/sf#Point> ; <http://www.opengis.net/ont/geosparql#asWKT>
            "POINT (10.03 50.006)"^^<http://www.opengis.net/ont/geosparql#wktLiteral> ."""
    for body in (CITY.read_text(encoding="utf-8"), more):
        answer = httpx.post(
            server.url + "/store?default",
            content=POSITION.sub(in_new_york, body).encode(),
            headers={"Content-Type": "text/turtle"},
            timeout=60,
        )
        assert answer.is_success, answer.text
    waits = httpx.post(server.url + "/candidates", json=closed_before_it_opened(TEXT, "1925"), timeout=60)
    assert [one["violations"][0]["message"] for one in waits.json()["rejected"]] == [
        "It cannot have closed before it opened."
    ]
    return server.url


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RunningServer(tmp_path_factory.mktemp("page") / "data") as server:
        yield filled(server)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    assert executable is not None, "these tests need Chromium (Debian: apt-get install chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, and what went wrong on it: errors, and requests to anywhere but the server."""

    page: Page
    site: str
    wrong: list[str] = field(default_factory=list)

    def open(self, place: str = "") -> Page:
        """Go to a place of the page, such as `#/review`, and wait until nothing is loaded any more."""
        # Another document, so that nothing is left of what was shown before.
        self.page.goto("about:blank")
        self.page.goto(f"{self.site}/{place}")
        self.page.wait_for_load_state("networkidle")
        return self.page

    def console(self, message: ConsoleMessage) -> None:
        """Note an error."""
        # The browser reports each refused request; the page says it in words.
        if (
            message.type in ("error", "warning")
            and "the server responded with a status of" not in message.text
            # A machine without a graphics card draws by its processor.
            and "GL Driver Message" not in message.text
        ):
            self.wrong.append(message.text)

    def request(self, request: Request) -> None:
        """Note a request that leaves the server."""
        if not request.url.startswith((self.site, "data:", "blob:", "about:")):
            self.wrong.append(f"a request to {request.url}")


def watch(context: BrowserContext, site: str) -> Watched:
    """A new page in a context, watched."""
    watched = Watched(context.new_page(), site)
    watched.page.set_default_timeout(60_000)
    watched.page.on("console", watched.console)
    watched.page.on("pageerror", lambda error: watched.wrong.append(str(error)))
    watched.page.on("request", watched.request)
    return watched


@pytest.fixture
def watched(browser: Browser, site: str) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    watched = watch(context, site)
    yield watched
    context.close()
    assert watched.wrong == []
