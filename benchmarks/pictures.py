"""Pictures of every screen of the page, for people to look at.

    python -m benchmarks.pictures --site http://127.0.0.1:8000 [--out build/pictures] [--only review]

Takes a server that runs, best one of the sample city (`urbankg demo`), and photographs each screen in
headless Chromium: 1280, 390 and 360 pixels wide, light and dark. Prints what a screen did wrong: messages in
the console, requests to other hosts, sideways scrolling.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

ID = "https://w3id.org/urbankg/id/"
URBAN = "https://w3id.org/urbankg/urban#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
PLACES = f"SELECT ?museum ?label WHERE {{ ?museum a <{URBAN}Museum> ; <{LABEL}> ?label }} LIMIT 40"
WIDTHS = (1280, 390, 360)
HEIGHTS = {1280: 900, 390: 844, 360: 740}
SCREENS = {
    "ask": "",
    "answer": f"#/ask?q={quote('Which museums are near Central Park?')}",
    "count": f"#/ask?q={quote('How many museums are in Manhattan?')}",
    "gap": f"#/ask?q={quote('Who is the mayor of Atlantis?')}",
    "text": "#/text",
    "review": "#/review",
    "decided": "#/review?status=any",
    "gaps": "#/gaps",
    "explore": "#/explore",
    "found": "#/explore?q=museum",
    "entity": f"#/explore?iri={quote(ID + 'columbia-university', safe='')}",
    "query": "#/query",
    "rows": f"#/query?query={quote(PLACES)}",
    "model": "#/model",
    "kind": f"#/model?class={quote(URBAN + 'Museum', safe='')}",
    "file": "#/model?file=shapes/urban.ttl",
    "status": "#/status",
}
"""The place of each screen in the page, by its name."""


def photograph(page: Page, site: str, name: str, file: Path) -> list[str]:
    """Write one picture; what went wrong on that screen."""
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: _elsewhere(request.url, site, wrong))
    page.goto(f"{site}/{SCREENS[name]}")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        wrong.append(f"scrolls sideways by {wide} px")
    page.screenshot(path=file, full_page=True)
    return wrong


def _elsewhere(url: str, site: str, wrong: list[str]) -> None:
    if not url.startswith((site, "data:", "blob:", "about:")):
        wrong.append(f"a request to {url}")


def photograph_all(browser: Browser, site: str, folder: Path, names: list[str], widths: list[int]) -> int:
    """Write all pictures; how many screens did something wrong."""
    failed = 0
    for theme in ("light", "dark"):
        for width in widths:
            for name in names:
                size: ViewportSize = {"width": width, "height": HEIGHTS[width]}
                context = browser.new_context(viewport=size, color_scheme=theme)
                file = folder / f"{name}-{width}-{theme}.png"
                wrong = photograph(context.new_page(), site, name, file)
                context.close()
                print(f"{file}  {'; '.join(wrong)}")
                failed += bool(wrong)
    return failed


def main() -> int:
    """Run the command line; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", default="http://127.0.0.1:8000", help="address of the server")
    parser.add_argument("--out", type=Path, default=Path("build/pictures"), help="folder of the pictures")
    parser.add_argument("--only", nargs="*", choices=list(SCREENS), default=list(SCREENS))
    parser.add_argument("--width", nargs="*", type=int, choices=WIDTHS, default=list(WIDTHS))
    given = parser.parse_args()
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        parser.error("Chromium is missing (Debian: apt-get install chromium)")
    given.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        failed = photograph_all(browser, given.site.rstrip("/"), given.out, given.only, given.width)
        browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
