"""How quick the page is in headless Chromium: its start, a large map, a long table, a long queue.

    python -m benchmarks.page --site http://127.0.0.1:8000 [--queue 10000]

The server should be fresh, with the sample city. `--queue` first fills the review queue with so many refused statements.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from urllib.parse import quote

import httpx
from playwright.sync_api import Page, sync_playwright

ID = "https://w3id.org/urbankg/id/"
URBAN = "https://w3id.org/urbankg/urban#"
TENS = " ".join(str(number) for number in range(100))
FEATURES = f"""PREFIX geo: <http://www.opengis.net/ont/geosparql#>
SELECT ?x (STRDT(CONCAT("POINT(", STR(?i * 0.003 - 74.1), " ", STR(?j * 0.003 + 40.6), ")"), geo:wktLiteral) AS ?wkt)
WHERE {{ VALUES ?i {{ {TENS} }} VALUES ?j {{ {TENS} }} BIND(IRI(CONCAT("{ID}p-", STR(?i), "-", STR(?j))) AS ?x) }}"""
ROWS = f"""SELECT ?i ?j ?k WHERE {{ VALUES ?i {{ {TENS} }} VALUES ?j {{ {TENS} }} VALUES ?k {{ 0 1 2 3 4 5 6 7 8 9 }} }}"""
SCROLL = """async () => {
    const table = document.querySelector('.many');
    const times = []; let last = performance.now();
    for (let n = 0; n < 60; n++) {
        table.scrollTop = n * 60000;
        await new Promise(requestAnimationFrame);
        const now = performance.now(); times.push(now - last); last = now;
    }
    return times.slice(5);
}"""


def start(page: Page, site: str) -> list[float]:
    """Milliseconds until the question can be written, several times."""
    found = []
    for _ in range(7):
        page.goto("about:blank")
        page.goto(site)
        page.wait_for_selector("#q")
        found.append(page.evaluate("performance.now()"))
    return found


def large_map(page: Page, site: str) -> list[float]:
    """Milliseconds of each frame while a map of 10,000 points is moved."""
    page.goto(f"{site}/#/query?query={quote(FEATURES)}")
    page.get_by_role("button", name="Map", exact=True).click(timeout=60_000)
    page.wait_for_timeout(2000)
    box = page.locator(".map").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate(
        "() => { window.frames_ = []; let last = performance.now(); const tick = () => {"
        " const now = performance.now(); window.frames_.push(now - last); last = now;"
        " requestAnimationFrame(tick); }; requestAnimationFrame(tick); }"
    )
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(x + 3 * step, y + 2 * (step % 20))
    page.mouse.up()
    page.wait_for_timeout(500)
    return list(page.evaluate("window.frames_"))


def long_table(page: Page, site: str) -> list[float]:
    """Milliseconds of each frame while a table of 100,000 rows scrolls."""
    page.goto("about:blank")
    page.goto(f"{site}/#/query?query={quote(ROWS)}")
    page.get_by_role("button", name="Show all").click(timeout=60_000)
    page.wait_for_selector(".many")
    times = list(page.evaluate(SCROLL))
    page.evaluate("document.querySelector('.many').scrollTop = 1e9")
    page.wait_for_function("document.querySelector('.many tbody').innerText.includes('99')")
    return times


def fill(site: str, wanted: int) -> None:
    """Let so many statements be refused."""
    part = 500
    for begin in range(0, wanted, part):
        text = " ".join(f"It holds {begin + n} people." for n in range(part))
        statements = []
        for n in range(part):
            words = f"It holds {begin + n} people"
            at = text.index(words)
            statements.append(
                {
                    "subject": f"{ID}unknown-{begin + n}",
                    "predicate": URBAN + "population",
                    "object": {"type": "literal", "value": words},
                    "evidence": {"start": at, "end": at + len(words), "quote": words},
                    "confidence": 0.5 + n % 50 / 100,
                }
            )
        httpx.post(
            f"{site}/candidates", json={"text": text, "statements": statements}, timeout=600
        ).raise_for_status()


def long_queue(page: Page, site: str) -> list[float]:
    """Milliseconds from a choice of a filter to the filtered queue."""
    page.goto(f"{site}/#/review")
    page.wait_for_selector(".items li")
    found = []
    for value in ("0.7", "0.5", "0.9", ""):
        before = page.locator("h1.mid").inner_text()
        page.evaluate("window.begun_ = performance.now()")
        page.locator("#f-max_confidence").select_option(value)
        page.wait_for_function(
            "before => document.querySelector('h1.mid').innerText !== before", arg=before, polling=5
        )
        found.append(page.evaluate("performance.now() - window.begun_"))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", required=True)
    parser.add_argument("--queue", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.queue:
        fill(chosen.site, chosen.queue)
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        for name, measure in (
            ("start", start),
            ("map", large_map),
            ("table", long_table),
            ("queue", long_queue),
        ):
            if name == "queue" and not chosen.queue:
                continue
            times = sorted(measure(page, chosen.site))
            worst = times[int(len(times) * 0.95) - (len(times) < 20)]
            print(
                f"{name}: median {statistics.median(times):.0f} ms, 95 % {worst:.0f} ms, most {times[-1]:.0f} ms"
            )
        browser.close()


if __name__ == "__main__":
    main()
