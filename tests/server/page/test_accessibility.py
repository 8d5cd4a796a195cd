"""WCAG 2 A and AA by axe-core on every screen, light and dark, wide and narrow; and the weight of a start."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser

from tests.server.page.conftest import ID, ROOT, URBAN, Watched, watch

pytestmark = pytest.mark.slow

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
PHONE, WIDE = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
SCREENS = (
    "",
    f"#/ask?q={quote('Which museums are in Westside?')}",
    f"#/ask?q={quote('Who is the mayor of Atlantis?')}",
    "#/text",
    "#/review",
    "#/review?status=any",
    "#/gaps",
    "#/explore",
    f"#/explore?iri={quote(ID + 'clock-museum', safe='')}",
    f"#/query?query={quote('SELECT * WHERE { ?s ?p ?o } LIMIT 5')}",
    f"#/model?class={quote(URBAN + 'Museum', safe='')}",
    "#/model?file=shapes/urban.ttl",
    "#/explore?q=museum",
    "#/status",
)


@pytest.mark.parametrize("width", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_screen_violates_wcag_a_or_aa(
    browser: Browser, site: str, theme: str, width: dict[str, int]
) -> None:
    assert AXE.exists(), "run `make ui` first: it installs axe-core"
    context = browser.new_context(viewport=width, color_scheme=theme)
    watched = watch(context, site)
    found = []
    for screen in SCREENS:
        page = watched.open(screen)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        reported = page.evaluate(
            "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})"
        )
        assert len(reported["passes"]) > 10, screen
        for violation in reported["violations"]:
            nodes = [node["html"][:160] for node in violation["nodes"][:3]]
            found.append((screen, violation["id"], violation["help"], nodes))
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{screen} scrolls sideways by {wide} px"
    context.close()
    assert found == []
    assert watched.wrong == []


def test_the_first_screen_takes_at_most_70_kib(watched: Watched) -> None:
    """All files that the browser loads before a question is asked, compressed."""
    loaded: list[str] = []
    watched.page.on("request", lambda request: loaded.append(request.url))
    watched.open()
    files = [url for url in loaded if url == f"{watched.site}/" or f"{watched.site}/ui/" in url]
    sizes = [len(gzip.compress(httpx.get(url).content)) for url in files]
    assert len(files) > 3
    assert sum(sizes) <= 70 * 1024


def test_the_policy_allows_nothing_from_elsewhere_and_files_are_compressed_and_tagged(site: str) -> None:
    answer = httpx.get(site + "/", headers={"Accept": "text/html", "Accept-Encoding": "gzip"})
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    for path in ("/", *(f"/{name}" for name in re.findall(r'(?:src|href)="(ui/[^"]+)"', answer.text))):
        first = httpx.get(site + path, headers={"Accept-Encoding": "gzip"})
        assert first.status_code == 200, path
        again = httpx.get(
            site + path, headers={"If-None-Match": first.headers["ETag"], "Accept-Encoding": "gzip"}
        )
        assert again.status_code == 304, path
    assert httpx.get(site + "/ui/app.js").headers["Content-Encoding"] == "gzip"
    assert httpx.get(site + "/ui/nothing.js").status_code == 404
    landing = httpx.get(site + "/", headers={"Accept": "application/json"})
    assert landing.headers["Content-Type"].startswith("application/json")


def test_the_page_holds_no_inline_script_or_style() -> None:
    index = (Path(ROOT) / "server/web/index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=", index)
