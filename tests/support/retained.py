"""How much an object keeps in memory, counted in values and not in bytes, which differ between versions."""

import gc
from typing import Any

_COLLECTIONS = (dict, set, frozenset, list, tuple)


def retained(root: object, *packages: str) -> int:
    """The size of all collections that are reached from an object through objects of these packages."""
    number, seen = 0, set()
    waiting: list[Any] = [root]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        is_collection = isinstance(one, _COLLECTIONS)
        number += len(one) if is_collection else 0
        if is_collection or one is root or type(one).__module__.startswith(packages):
            waiting += gc.get_referents(one)
    return number
