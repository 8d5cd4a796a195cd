"""Topological relations: simple features, Egenhofer, RCC8 and relate (GeoSPARQL 1.1, clauses 9.3 to 9.6).

sf* follow the simple-feature definitions, dimension by dimension. eh* and rcc8* are exactly the matrix
patterns of tables 6 and 7, gaps included; `geo.relate.rcc8` classifies without gaps.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import shapely
from pyoxigraph import Literal

from geo.errors import ArgumentError
from geo.formats.literals import GeometryValue
from geo.functions.definitions import Definition, Parameter, define

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

Predicate = Callable[[Any, Any], Any]

#: The predicate of each function, and its converse.
SIMPLE_FEATURES: Final[dict[str, tuple[Predicate, Predicate]]] = {
    "sfEquals": (shapely.equals, shapely.equals),
    "sfDisjoint": (shapely.disjoint, shapely.disjoint),
    "sfIntersects": (shapely.intersects, shapely.intersects),
    "sfTouches": (shapely.touches, shapely.touches),
    "sfCrosses": (shapely.crosses, shapely.crosses),
    "sfWithin": (shapely.within, shapely.contains),
    "sfContains": (shapely.contains, shapely.within),
    "sfOverlaps": (shapely.overlaps, shapely.overlaps),
}


def _by_shapes(predicate: Predicate, converse: Predicate) -> Callable[..., bool]:
    def holds(a: GeometryValue, b: GeometryValue) -> bool:
        return bool(converse(b.shape, a.shape) if _turns(a, b) else predicate(a.shape, b.shape))

    return holds


def _by_patterns(patterns: tuple[str, ...]) -> Callable[..., bool]:
    def matches(a: GeometryValue, b: GeometryValue) -> bool:
        return any(_fits(a, b, pattern) for pattern in patterns)

    return matches


def _fits(a: GeometryValue, b: GeometryValue, pattern: str) -> bool:
    if _turns(a, b):
        return bool(shapely.relate_pattern(b.shape, a.shape, transposed(pattern)))
    return bool(shapely.relate_pattern(a.shape, b.shape, pattern))


def _turns(a: GeometryValue, b: GeometryValue) -> bool:
    """Whether to use the converse: only a prepared left geometry makes a predicate faster."""
    return bool(shapely.is_prepared(b.shape)) and not shapely.is_prepared(a.shape)


def is_pattern(text: str) -> bool:
    """Whether a text is an upper-case DE-9IM pattern."""
    return _PATTERN.fullmatch(text) is not None


def transposed(matrix: str) -> str:
    """A DE-9IM matrix or pattern with left and right exchanged."""
    return matrix[0::3] + matrix[1::3] + matrix[2::3]


def relate(a: GeometryValue, b: GeometryValue, pattern: str | None = None) -> bool | Literal:
    """Whether the DE-9IM matrix fits a pattern; without a pattern the matrix itself, as a string."""
    if pattern is None:
        turned = _turns(a, b)
        matrix = shapely.relate(b.shape, a.shape) if turned else shapely.relate(a.shape, b.shape)
        return Literal(transposed(matrix) if turned else matrix)
    if not is_pattern(pattern.upper()):
        raise ArgumentError(
            f"{pattern!r} is not a DE-9IM pattern. Give nine characters of T, F, *, 0, 1 and 2."
        )
    return _fits(a, b, pattern.upper())


_PAIR: Final = (Parameter.GEOMETRY, Parameter.GEOMETRY)

DEFINITIONS: Final[tuple[Definition, ...]] = (
    *(define(name, _by_shapes(*predicates), *_PAIR) for name, predicates in SIMPLE_FEATURES.items()),
    *(define(name, _by_patterns(patterns), *_PAIR) for name, patterns in PATTERNS.items()),
    define("relate", relate, *_PAIR, Parameter.TEXT, optional=1),
)
