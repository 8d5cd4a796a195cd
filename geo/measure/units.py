"""The table of units of measure: their QUDT names, the IRIs of the OGC and EPSG registers, and their sizes.

Functions read it by IRI, and text by QUDT name (`extractors.english.quantities` holds the English words).
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Final

from geo.errors import UnitError
from geo.vocabulary import UOM

QUDT_UNIT: Final = "http://qudt.org/vocab/unit/"
_EPSG: Final = "http://www.opengis.net/def/uom/EPSG/0/"


class Quantity(StrEnum):
    """What a unit measures."""

    LENGTH = "length"
    AREA = "area"
    VOLUME = "volume"
    ANGLE = "angle"
    MASS = "mass"
    SPEED = "speed"
    POWER = "power"
    SHARE = "share"
    TIME = "time"
    TEMPERATURE = "temperature"


@dataclass(frozen=True)
class Unit:
    """A unit: `factor` is its size in the SI unit, in degrees for angles; `offset` is added to the product.

    `ogc` are its names in the OGC register, `epsg` its codes.
    """

    name: str
    quantity: Quantity
    factor: Decimal
    ogc: tuple[str, ...] = ()
    epsg: tuple[str, ...] = ()
    offset: Decimal = Decimal(0)

    @cached_property
    def size(self) -> float:
        """The factor, for measures of geometries."""
        return float(self.factor)

    @property
    def iris(self) -> tuple[str, ...]:
        """Every IRI of the unit."""
        ogc, epsg = (UOM + name for name in self.ogc), (_EPSG + code for code in self.epsg)
        return (QUDT_UNIT + self.name, *ogc, *epsg)


_FOOT, _YARD, _MILE = Decimal("0.3048"), Decimal("0.9144"), Decimal("1609.344")

UNITS: Final = {
    unit.name: unit
    for unit in (
        Unit("M", Quantity.LENGTH, Decimal(1), ("metre",), ("9001",)),
        Unit("MilliM", Quantity.LENGTH, Decimal("0.001")),
        Unit("CentiM", Quantity.LENGTH, Decimal("0.01"), ("centimetre",)),
        Unit("KiloM", Quantity.LENGTH, Decimal(1000), ("kilometre",), ("9036",)),
        Unit("IN", Quantity.LENGTH, Decimal("0.0254")),
        Unit("FT", Quantity.LENGTH, _FOOT, ("foot",), ("9002",)),
        Unit("FT_US", Quantity.LENGTH, Decimal(1200) / 3937, (), ("9003",)),
        Unit("YD", Quantity.LENGTH, _YARD, ("yard",), ("9096",)),
        Unit("MI", Quantity.LENGTH, _MILE, ("mile",), ("9093",)),
        Unit("MI_N", Quantity.LENGTH, Decimal(1852), ("nauticalMile",), ("9030",)),
        Unit("M2", Quantity.AREA, Decimal(1), ("square_metre", "squareMetre")),
        Unit("KiloM2", Quantity.AREA, Decimal(10**6), ("square_kilometre", "squareKilometre")),
        Unit("HA", Quantity.AREA, Decimal(10**4), ("hectare",)),
        Unit("FT2", Quantity.AREA, _FOOT**2),
        Unit("YD2", Quantity.AREA, _YARD**2),
        Unit("MI2", Quantity.AREA, _MILE**2),
        Unit("AC", Quantity.AREA, Decimal("4046.8564224")),
        Unit("M3", Quantity.VOLUME, Decimal(1)),
        Unit("L", Quantity.VOLUME, Decimal("0.001")),
        Unit("GAL_US", Quantity.VOLUME, Decimal("0.003785411784")),
        Unit("DEG", Quantity.ANGLE, Decimal(1), ("degree",), ("9102",)),
        Unit("RAD", Quantity.ANGLE, Decimal("57.29577951308232"), ("radian",), ("9101",)),
        Unit("GM", Quantity.MASS, Decimal("0.001")),
        Unit("KiloGM", Quantity.MASS, Decimal(1)),
        Unit("TONNE", Quantity.MASS, Decimal(1000)),
        Unit("TON_Metric", Quantity.MASS, Decimal(1000)),
        Unit("TON_SHORT", Quantity.MASS, Decimal("907.18474")),
        Unit("LB", Quantity.MASS, Decimal("0.45359237")),
        Unit("M-PER-SEC", Quantity.SPEED, Decimal(1)),
        Unit("KiloM-PER-HR", Quantity.SPEED, 1 / Decimal("3.6")),
        Unit("MI-PER-HR", Quantity.SPEED, _MILE / 3600),
        Unit("W", Quantity.POWER, Decimal(1)),
        Unit("KiloW", Quantity.POWER, Decimal(10**3)),
        Unit("MegaW", Quantity.POWER, Decimal(10**6)),
        Unit("PERCENT", Quantity.SHARE, Decimal("0.01")),
        Unit("PERMILLE", Quantity.SHARE, Decimal("0.001")),
        Unit("SEC", Quantity.TIME, Decimal(1)),
        Unit("MIN", Quantity.TIME, Decimal(60)),
        Unit("HR", Quantity.TIME, Decimal(3600)),
        Unit("DAY", Quantity.TIME, Decimal(86400)),
        Unit("WK", Quantity.TIME, Decimal(604800)),
        Unit("YR", Quantity.TIME, Decimal(31557600)),
        Unit("K", Quantity.TEMPERATURE, Decimal(1)),
        Unit("DEG_C", Quantity.TEMPERATURE, Decimal(1), offset=Decimal("273.15")),
        Unit("DEG_F", Quantity.TEMPERATURE, Decimal(5) / 9, offset=Decimal("459.67") * 5 / 9),
    )
}
"""The units by QUDT name."""
UNITS_BY_IRI: Final = {iri: unit for unit in UNITS.values() for iri in unit.iris}


def find_unit(iri: str, *quantities: Quantity) -> Unit:
    """Return the unit of an IRI, which must measure one of the quantities. Raises `UnitError`."""
    unit = UNITS_BY_IRI.get(iri)
    if unit is None:
        raise UnitError(f"<{iri}> is not a known unit. Use for example <{UOM}metre> or <{UOM}square_metre>.")
    if unit.quantity not in quantities:
        wanted = " or ".join(quantities)
        raise UnitError(f"<{iri}> measures {unit.quantity}, but {wanted} is needed. Use a unit of {wanted}.")
    return unit
