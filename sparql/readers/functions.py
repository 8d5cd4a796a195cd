"""The extension functions that queries may call: the table of ``geof:`` functions of the geo room."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pyoxigraph import NamedNode

Function = Callable[..., Any]


def load_functions() -> dict[NamedNode, Function]:
    """The table by IRI. Takes some 0.3 s the first time, so it is loaded when it is first needed."""
    if find_spec("geo.functions") is None:
        return {}
    table = import_module("geo.functions").FUNCTIONS
    return {name if isinstance(name, NamedNode) else NamedNode(name): call for name, call in table.items()}
