"""Topological relations: simple features, Egenhofer, RCC8 and relate (GeoSPARQL 1.1, clauses 9.3 to 9.6).

sf* follow the simple-feature definitions, dimension by dimension. eh* and rcc8* are the matrix
patterns of the tables 6 and 7, true to the letter, gaps included; `geo.rcc8` classifies without gaps.
"""

import re
from collections.abc import Callable
from typing import Final

import shapely
from pyoxigraph import Literal
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError
from geo.functions.definitions import Definition, Parameter, define
from geo.literals import GeometryValue

_PATTERN: Final = re.compile(r"[TF*012]{9}")

#: The DE-9IM patterns of the Egenhofer and RCC8 functions; one of several alternatives must match.
PATTERNS: Final = {
    "ehEquals": ("TFFFTFFFT",),
    "ehDisjoint": ("FF*FF****",),
    "ehMeet": ("FT*******", "F**T*****", "F***T****"),
    "ehOverlap": ("T*T***T**",),
    "ehCovers": ("T*TFT*FF*",),
    "ehCoveredBy": ("TFF*TFT**",),
    "ehInside": ("TFF*FFT**",),
    "ehContains": ("T*TFF*FF*",),
    "rcc8eq": ("TFFFTFFFT",),
    "rcc8dc": ("FFTFFTTTT",),
    "rcc8ec": ("FFTFTTTTT",),
    "rcc8po": ("TTTTTTTTT",),
    "rcc8tppi": ("TTTFTTFFT",),
    "rcc8tpp": ("TFFTTFTTT",),
    "rcc8ntpp": ("TFFTFFTTT",),
    "rcc8ntppi": ("TTTFFTFFT",),
}

_SIMPLE_FEATURES: Final[dict[str, Callable[[BaseGeometry, BaseGeometry], object]]] = {
    "sfEquals": shapely.equals,
    "sfDisjoint": shapely.disjoint,
    "sfIntersects": shapely.intersects,
    "sfTouches": shapely.touches,
    "sfCrosses": shapely.crosses,
    "sfWithin": shapely.within,
    "sfContains": shapely.contains,
    "sfOverlaps": shapely.overlaps,
}


def _by_shapes(predicate: Callable[[BaseGeometry, BaseGeometry], object]) -> Callable[..., bool]:
    return lambda a, b: bool(predicate(a.shape, b.shape))


def _by_patterns(patterns: tuple[str, ...]) -> Callable[..., bool]:
    def matches(a: GeometryValue, b: GeometryValue) -> bool:
        return any(bool(shapely.relate_pattern(a.shape, b.shape, pattern)) for pattern in patterns)

    return matches


def relate(a: GeometryValue, b: GeometryValue, pattern: str | None = None) -> bool | Literal:
    """Whether the DE-9IM matrix fits a pattern; without a pattern the matrix itself, as a string."""
    if pattern is None:
        return Literal(shapely.relate(a.shape, b.shape))
    if not _PATTERN.fullmatch(pattern.upper()):
        raise ArgumentError(f"{pattern!r} is no DE-9IM pattern. Give nine characters of T, F, *, 0, 1 and 2.")
    return bool(shapely.relate_pattern(a.shape, b.shape, pattern.upper()))


_PAIR: Final = (Parameter.GEOMETRY, Parameter.GEOMETRY)

DEFINITIONS: Final[tuple[Definition, ...]] = (
    *(define(name, _by_shapes(predicate), *_PAIR) for name, predicate in _SIMPLE_FEATURES.items()),
    *(define(name, _by_patterns(patterns), *_PAIR) for name, patterns in PATTERNS.items()),
    define("relate", relate, *_PAIR, Parameter.TEXT, optional=1),
)
