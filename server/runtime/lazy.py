"""An attribute that is made when it is first read."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, cast

_Value = TypeVar("_Value")


class Lazy(Generic[_Value]):
    """Assigned a function, it calls that with the object at the first read, once, and keeps the value."""

    def __init__(self) -> None:
        self._lock = RLock()

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __set__(self, owner: Any, make: Callable[[Any], _Value]) -> None:
        vars(owner)[self._name] = _Unmade(make)

    def __get__(self, owner: Any, kind: type) -> _Value:
        held = vars(owner)
        if isinstance(held[self._name], _Unmade):
            with self._lock:
                if isinstance(held[self._name], _Unmade):
                    held[self._name] = held[self._name].make(owner)
        return cast("_Value", held[self._name])


class _Unmade:
    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make
