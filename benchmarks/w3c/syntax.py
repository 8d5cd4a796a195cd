"""Syntax tests: texts that must be taken, and texts that must be refused as no SPARQL."""

from __future__ import annotations

from benchmarks.w3c.elsewhere import Elsewhere
from benchmarks.w3c.engine import Engine
from benchmarks.w3c.manifest import QT, UT, Test
from sparql.model.errors import MalformedRequest, QueryFailed, RemoteAccessRefused, SyntaxProblem
from sparql.writing.updates import read_update


async def run_syntax_test(engine: Engine, test: Test) -> str | None:
    """Why a syntax test fails; None if it passes. Nothing is in the store."""
    update = "Update" in test.kind
    node = test.action.one((UT + "request") if update else (QT + "query")) or test.action
    try:
        text = test.file(node).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None if "Negative" in test.kind else "the file is not UTF-8"
    try:
        if update:
            read_update(text, node.text)
        else:
            engine.load([])
            engine.elsewhere = Elsewhere(empty=True)
            await engine.query(text, node.text, "json")
    except (SyntaxProblem, MalformedRequest) as error:
        return None if "Negative" in test.kind else f"{type(error).__name__}: {error}"
    except (QueryFailed, RemoteAccessRefused) as error:
        # It was parsed: these come later. A query with SERVICE, though, is refused before.
        if isinstance(error, RemoteAccessRefused) and not update:
            return f"{type(error).__name__}: {error}"
        return "taken, though it is not valid" if "Negative" in test.kind else None
    return "taken, though it is not valid" if "Negative" in test.kind else None
