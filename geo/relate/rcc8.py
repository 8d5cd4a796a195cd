"""The eight relations of the region connection calculus, for points, lines and areas alike.

One DE-9IM matrix decides (I interior, B boundary, E exterior; the first letter is of the left geometry):

| class | condition |
|---|---|
| DC / EC | II is F, and none / some of BB, IB, BI is not F |
| EQ | IE = BE = EI = EB = F |
| TPP / NTPP | II is not F and IE = BE = F; TPP if BB or IB is not F |
| TPPi / NTPPi | the transpose |
| PO | otherwise |

The classes are jointly exhaustive and pairwise disjoint. The matrix patterns of GeoSPARQL 1.1 (table 7) are
not, so only the `geof:rcc8*` filter functions use them. An empty geometry is DC to everything, including
itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import NamedNode
from shapely.geometry.base import BaseGeometry

from geo.vocabulary import GEO


class RCC5(StrEnum):
    """UrbanKGent's five relations (DC, EC, PO, EQ, IN) and the inverse of IN, which it does not name.

    IN is TPP or NTPP: the left lies in the right. INi is TPPi or NTPPi: the left contains the right.
    """

    DC = "DC"
    EC = "EC"
    PO = "PO"
    EQ = "EQ"
    IN = "IN"
    INi = "INi"

    @property
    def inverse(self) -> "RCC5":
        """The relation of the right to the left."""
        return _RCC5_INVERSES.get(self, self)


class RCC8(StrEnum):
    """The eight relations of a left to a right geometry."""

    DC = "DC"
    EC = "EC"
    PO = "PO"
    EQ = "EQ"
    TPP = "TPP"
    NTPP = "NTPP"
    TPPi = "TPPi"
    NTPPi = "NTPPi"

    @property
    def inverse(self) -> "RCC8":
        """The relation of the right to the left."""
        return _RCC8_INVERSES.get(self, self)

    @property
    def rcc5(self) -> RCC5:
        """The coarser relation, without the difference between tangential and not."""
        return _RCC5[self]

    @property
    def property(self) -> NamedNode:
        """The GeoSPARQL property that states the relation between two features, such as geo:rcc8ntpp."""
        return PROPERTIES[self]


_RCC8_INVERSES: Final = {
    RCC8.TPP: RCC8.TPPi,
    RCC8.NTPP: RCC8.NTPPi,
    RCC8.TPPi: RCC8.TPP,
    RCC8.NTPPi: RCC8.NTPP,
}
_RCC5_INVERSES: Final = {RCC5.IN: RCC5.INi, RCC5.INi: RCC5.IN}
_RCC5: Final = {
    RCC8.DC: RCC5.DC,
    RCC8.EC: RCC5.EC,
    RCC8.PO: RCC5.PO,
    RCC8.EQ: RCC5.EQ,
    RCC8.TPP: RCC5.IN,
    RCC8.NTPP: RCC5.IN,
    RCC8.TPPi: RCC5.INi,
    RCC8.NTPPi: RCC5.INi,
}

#: The GeoSPARQL property of each relation, and the relation of each property.
PROPERTIES: Final = {relation: NamedNode(f"{GEO}rcc8{relation.value.lower()}") for relation in RCC8}
RELATIONS: Final = {prop: relation for relation, prop in PROPERTIES.items()}

#: The relations in a fixed order: bulk functions return a relation as its position here.
CODES: Final = tuple(RCC8)
_CODE_OF: Final = {relation: code for code, relation in enumerate(CODES)}


@dataclass(frozen=True)
class Relation:
    """How the left geometry relates to the right one, with the DE-9IM matrix.

    `tolerance_m` is the tolerance under which `rcc8` was judged; the matrix is always the exact one.
    """

    rcc8: RCC8
    rcc5: RCC5
    matrix: str
    tolerance_m: float = 0.0


@lru_cache(maxsize=4096)
def classify(matrix: str) -> RCC8:
    """The relation of a DE-9IM matrix of nine characters (`212101212`, `FF2F1F212`)."""
    ii, ib, ie, bi, bb, be, ei, eb, _ = (character != "F" for character in matrix)
    if not ii:
        return RCC8.EC if bb or ib or bi else RCC8.DC
    left_inside, right_inside = not (ie or be), not (ei or eb)
    if left_inside and right_inside:
        return RCC8.EQ
    if left_inside:
        return RCC8.TPP if bb or ib else RCC8.NTPP
    if right_inside:
        return RCC8.TPPi if bb or bi else RCC8.NTPPi
    return RCC8.PO


def relate(left: BaseGeometry, right: BaseGeometry) -> Relation:
    """The exact relation of two geometries in the same coordinates.

    See `geo.relate.tolerance.relate_within` for borders that almost meet.
    """
    matrix = shapely.relate(left, right)
    relation = classify(matrix)
    return Relation(relation, relation.rcc5, matrix)


def relate_pairs(
    left: Sequence[BaseGeometry] | NDArray[numpy.object_],
    right: Sequence[BaseGeometry] | NDArray[numpy.object_],
) -> NDArray[numpy.int8]:
    """The relations of many pairs, as positions in CODES: shape (n,) from two sequences of n geometries.

    Prepare the left geometries where one occurs in many pairs. Holds the GIL while it runs.
    """
    matrices = shapely.relate(numpy.asarray(left, dtype=object), numpy.asarray(right, dtype=object))
    return numpy.fromiter((_code(matrix) for matrix in matrices), dtype=numpy.int8, count=len(matrices))


def code_of(relation: RCC8) -> int:
    """The position of a relation in CODES."""
    return _CODE_OF[relation]


#: The code of the inverse of each code: `INVERSE_CODES[codes]` inverts a whole array.
INVERSE_CODES: Final = numpy.array([_CODE_OF[relation.inverse] for relation in CODES], dtype=numpy.int8)


@lru_cache(maxsize=4096)
def _code(matrix: str) -> int:
    return _CODE_OF[classify(matrix)]
