"""The page on which people judge: one file that needs no server and no network."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from extractors.research.evaluation.judging.items import Item

__all__ = ["write_page"]


def write_page(file: Path, items: Sequence[Item], title: str) -> None:
    """Write the page. What is judged on it stays in the browser, for exactly these items, until saved."""
    rows = [
        {
            "id": item.identifier,
            "group": item.group,
            "context": item.context,
            "subject": item.subject,
            "relation": item.relation,
            "object": item.object,
            "quote": item.quote,
        }
        for item in items
    ]
    # Inside a script element only "<" could end it, or open a comment.
    data = json.dumps(rows, ensure_ascii=False).replace("<", "\\u003c")
    key = hashlib.sha256(data.encode("utf-8", "replace")).hexdigest()[:12]
    template = (
        resources.files("extractors") / "research" / "evaluation" / "judging" / "judge.html"
    ).read_text("utf-8")
    before, _, after = template.partition("$items")
    filled = [part.replace("$title", html.escape(title)).replace("$key", key) for part in (before, after)]
    file.write_text(data.join(filled), encoding="utf-8")
