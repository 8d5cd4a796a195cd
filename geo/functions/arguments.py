"""Geometry arguments of calls: an argument that repeats from row to row is read and prepared once."""

import threading
from collections.abc import Callable
from dataclasses import replace

import shapely

from geo.formats.literals import GeometryValue

ReadGeometry = Callable[[object], GeometryValue]


class GeometryArgument(threading.local):
    """One argument of one function, which remembers its last term.

    An argument that repeats counts as constant: it is returned as a prepared copy, so that predicates on it
    are fast. The memory is per thread, since prepared geometries must not be shared between threads.
    """

    def __init__(self, read: ReadGeometry) -> None:
        self._read = read
        self._term: object = None
        self._value: GeometryValue | None = None
        self._constant = False

    def __call__(self, term: object) -> GeometryValue:
        """The geometry of a term, prepared where it repeats. Raises what reading raises."""
        if self._value is None or term != self._term:
            self._value = self._read(term)
            self._term, self._constant = term, False
        elif not self._constant:
            self._value, self._constant = _prepared(self._value), True
        return self._value


def _prepared(value: GeometryValue) -> GeometryValue:
    copy = shapely.from_wkb(shapely.to_wkb(value.shape))
    shapely.prepare(copy)
    return replace(value, shape=copy)
