"""The extension functions that queries may call: the ``geof:`` functions and aggregates of `geo`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pyoxigraph import NamedNode

Function = Callable[..., Any]
FUNCTION_IRIS = ("opengis.net", "urbankg/function")
"""Every function IRI contains one of these."""
Functions = dict[NamedNode, Function]


def load_functions() -> Functions:
    """The functions by IRI. Takes some 0.3 s the first time: load them when they are first needed."""
    return _table("FUNCTIONS")


def load_aggregates() -> Functions:
    """The aggregates by IRI: each creates an accumulator for one group."""
    return _table("AGGREGATES")


def _table(name: str) -> Functions:
    if find_spec("geo.functions") is None:
        return {}
    return dict(getattr(import_module("geo.functions"), name))
