"""The documentation as pages for a browser: `make docs` writes them to build/docs, without a network.

Sphinx reads Markdown by MyST. The pages are those that the repository shows, wherever they are in it; only
their order is written here, since Markdown has no word for it.
"""

import tomllib
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent
_ORDER = {
    "Start": ("README", "docs/start", "docs/compared", "docs/limits"),
    "Apps": ("docs/apps", "docs/geosparql", "docs/clients", "clients/python/README"),
    "Ontology engineers": ("docs/ontology-engineers", "docs/stewards"),
    "Operators": (
        "docs/operators",
        "docs/deploy",
        "docs/backup",
        "docs/loading",
        "docs/models",
        "docs/tuning",
        "docs/remote-store",
    ),
    "Research": (
        "docs/research",
        "docs/benchmarks",
        "benchmarks/README",
        "docs/conformance",
        "docs/compliance",
        "docs/shacl-conformance",
        "extractors/adapter/MODEL_CARD",
    ),
    "Reference": ("docs/reference/*",),
    "Development": (
        "CONTRIBUTING",
        "docs/architecture",
        "docs/decisions/README",
        "CHANGELOG",
        "SECURITY",
        "CODE_OF_CONDUCT",
        "extractors/adapter/LICENSE",
    ),
}
"""The pages by reader, in the order of the side bar."""
_LISTED = {page for pages in _ORDER.values() for page in pages}
_OTHERS = tuple(
    sorted({f"docs/{path.stem}" for path in Path(__file__).parent.glob("*.md")} - _LISTED - {"docs/index"})
)
if _OTHERS:
    _ORDER["More"] = _OTHERS
_REDIRECT = (
    '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html"><title>UrbanKG</title>\n'
)

project = "UrbanKG"
author = "The UrbanKG developers"
project_copyright = author
version = release = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["version"]
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["docs/**.md", *(f"{page}.md" for pages in _ORDER.values() for page in pages)]
exclude_patterns = [".*", "build", "**/node_modules", "docs/*.md~"]
myst_heading_anchors = 4
# Words that Pygments has no lexer for, in blocks that are shown as they are.
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_title = f"UrbanKG {release}"
html_copy_source = False
html_show_sourcelink = False


def _insert_order(_: object, page: str, source: list[str]) -> None:
    if page == root_doc:
        source[0] += "".join(_contents(caption, pages) for caption, pages in _ORDER.items())
    elif page == "docs/decisions/README":
        source[0] += _contents("", ("docs/decisions/0*",))


def _contents(caption: str, pages: tuple[str, ...]) -> str:
    lines = "\n".join(f"/{page}" for page in pages)
    title = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n:glob:\n{title}\n{lines}\n```\n"


def _write_redirect(app: Any, error: Exception | None) -> None:
    if error is None:
        Path(app.outdir, "index.html").write_text(_REDIRECT, encoding="utf-8")


def setup(app: Any) -> None:
    """Registers what Sphinx calls. See its page "Core events overview"."""
    app.connect("source-read", _insert_order)
    app.connect("build-finished", _write_redirect)
