"""The documents: links lead somewhere, named files exist, no page is an orphan, and targets are listed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "benchmarks/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WRITTEN = [page for page in PAGES if "onformance" not in page.name]
"""Pages but the generated ones, which name the tests of other suites."""
MADE = {line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()}
"""What commands make: it may be there or not."""
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()} - MADE
LISTS_OF_TARGETS = ("CONTRIBUTING.md", "benchmarks/README.md")
LINK = re.compile(r"\]\(([^)\s]+)\)")
IN_BACKTICKS = re.compile(r"`([\w.-]+/[\w./-]*)`")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"^\.PHONY: (.*)$", re.MULTILINE)


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files that a page links to, and the anchor in each."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    for path, anchor in links(page):
        assert path.exists(), path
        assert not anchor or anchor in anchors(path), f"{path}#{anchor}"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))
    named = {name for name in IN_BACKTICKS.findall(text) if name.partition("/")[0] in FOLDERS}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, waiting = {README}, [README]
    while waiting:
        new = {path for path, _ in links(waiting.pop()) if path.suffix == ".md"} - seen
        seen |= new
        waiting += new
    assert set(PAGES) <= seen


def test_the_architecture_is_a_short_page() -> None:
    assert len((ROOT / "docs/architecture.md").read_text(encoding="utf-8").split()) <= 1500


def test_every_target_is_listed() -> None:
    found = TARGET.search((ROOT / "Makefile").read_text())
    assert found is not None
    listed = "".join((ROOT / page).read_text(encoding="utf-8") for page in LISTS_OF_TARGETS)
    assert [name for name in found[1].split() if f"`make {name}`" not in listed] == []


def test_every_benchmark_has_a_target_and_a_line() -> None:
    makefile = (ROOT / "Makefile").read_text()
    listed = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    for program in (ROOT / "benchmarks").glob("*.py"):
        if '__name__ == "__main__"' in program.read_text(encoding="utf-8"):
            assert f"-m benchmarks.{program.stem}" in makefile, program
            assert f"`benchmarks/{program.name}`" in listed, program


def test_what_is_said_of_another_product_has_a_dated_source() -> None:
    text = (ROOT / "docs/compared.md").read_text(encoding="utf-8")
    said, sources = (
        text.split("## Measured")[0],
        dict(re.findall(r"^\[\^(\w+)\]: (.*(?:\n    .*)*)", text, re.MULTILINE)),
    )
    rows = [line.strip("| ").split(" | ") for line in said.splitlines() if line.startswith("| ")][1:]
    assert {len(row) for row in rows} == {9}
    claims = [cell for row in rows for cell in row[2:]]
    # "its store's" and "Neo4j's" are the claims of others.
    bare = {cell for cell in claims if "[^" not in cell} - {"no", "-", "its store's", "Neo4j's"}
    assert bare == set()
    assert set(re.findall(r"\[\^(\w+)\]", said)) == set(sources)
    assert [name for name, source in sources.items() if not re.search(r"<https?://.*\d", source)] == []
