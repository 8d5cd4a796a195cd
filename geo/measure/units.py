"""Units of measure by IRI: the OGC register, its EPSG codes, and QUDT."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from geo.errors import UnitError
from geo.vocabulary import UOM

_EPSG: Final = "http://www.opengis.net/def/uom/EPSG/0/"
_QUDT: Final = "http://qudt.org/vocab/unit/"
_DEGREE: Final = 1.0
_RADIAN: Final = 57.29577951308232


class Quantity(StrEnum):
    """What a unit measures."""

    LENGTH = "length"
    AREA = "area"
    ANGLE = "angle"


@dataclass(frozen=True)
class Unit:
    """A unit as its size in meters, square meters or degrees."""

    iri: str
    quantity: Quantity
    size: float


_LENGTHS: Final = {
    UOM + "metre": 1.0,
    UOM + "kilometre": 1000.0,
    UOM + "foot": 0.3048,
    UOM + "mile": 1609.344,
    UOM + "nauticalMile": 1852.0,
    UOM + "yard": 0.9144,
    UOM + "centimetre": 0.01,
    _EPSG + "9001": 1.0,
    _EPSG + "9002": 0.3048,
    _EPSG + "9003": 1200 / 3937,
    _EPSG + "9030": 1852.0,
    _EPSG + "9036": 1000.0,
    _EPSG + "9093": 1609.344,
    _EPSG + "9096": 0.9144,
    _QUDT + "M": 1.0,
    _QUDT + "KiloM": 1000.0,
    _QUDT + "CentiM": 0.01,
    _QUDT + "FT": 0.3048,
    _QUDT + "FT_US": 1200 / 3937,
    _QUDT + "YD": 0.9144,
    _QUDT + "MI": 1609.344,
    _QUDT + "MI_N": 1852.0,
}
_AREAS: Final = {
    UOM + "square_metre": 1.0,
    UOM + "squareMetre": 1.0,
    UOM + "square_kilometre": 1e6,
    UOM + "squareKilometre": 1e6,
    UOM + "hectare": 1e4,
    _QUDT + "M2": 1.0,
    _QUDT + "KiloM2": 1e6,
    _QUDT + "HA": 1e4,
    _QUDT + "AC": 4046.8564224,
    _QUDT + "FT2": 0.09290304,
    _QUDT + "MI2": 2589988.110336,
}
_ANGLES: Final = {
    UOM + "degree": _DEGREE,
    UOM + "radian": _RADIAN,
    _EPSG + "9101": _RADIAN,
    _EPSG + "9102": _DEGREE,
    _QUDT + "DEG": _DEGREE,
    _QUDT + "RAD": _RADIAN,
}

UNITS: Final = {
    iri: Unit(iri, quantity, size)
    for quantity, sizes in ((Quantity.LENGTH, _LENGTHS), (Quantity.AREA, _AREAS), (Quantity.ANGLE, _ANGLES))
    for iri, size in sizes.items()
}


def find_unit(iri: str, *quantities: Quantity) -> Unit:
    """The unit with an IRI, which must measure one of the quantities. Raises UnitError."""
    unit = UNITS.get(iri)
    if unit is None:
        raise UnitError(f"<{iri}> is not a known unit. Use for example <{UOM}metre> or <{UOM}square_metre>.")
    if unit.quantity not in quantities:
        wanted = " or ".join(quantities)
        raise UnitError(f"<{iri}> measures {unit.quantity}, but {wanted} is needed. Use a unit of {wanted}.")
    return unit
