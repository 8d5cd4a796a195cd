"""What commands print: data on standard output, everything else on standard error."""

import json
from typing import Any

import typer
from pyoxigraph import NamedNode
from rich.console import Console

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(found: Any) -> int:
    """Print an answer as JSON; the exit code 0."""
    print(json.dumps(found, ensure_ascii=False, indent=2))
    return 0


def iri(text: str) -> NamedNode:
    """The IRI of an argument. Raises `typer.BadParameter`."""
    try:
        return NamedNode(text)
    except ValueError as error:
        raise typer.BadParameter(f"'{text}' is not an absolute IRI: {error}") from error
