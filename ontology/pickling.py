"""Pickling of values that other threads use meanwhile."""

from __future__ import annotations

from functools import cached_property
from typing import Any

__all__ = ["state_without_cached"]


def state_without_cached(instance: object) -> dict[str, Any]:
    """The attributes of an instance without its cached properties, for `__getstate__`.

    Pickling the attributes themselves fails where another thread computes a cached property meanwhile.
    """
    # The copy is one step of the interpreter: no other thread comes in between.
    attributes = dict(vars(instance))
    kind = type(instance)
    return {
        name: value
        for name, value in attributes.items()
        if not isinstance(getattr(kind, name, None), cached_property)
    }
