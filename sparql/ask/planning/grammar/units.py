"""Values in the unit of a quantity."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from pyoxigraph import Literal

from geo.measure.units import UNITS
from sparql.ask.plan.nodes import (
    Converted,
    DistanceTo,
    Quantity,
    Size,
    SizeOf,
    ValueOf,
)
from sparql.ask.planning.rules import Context
from sparql.model.vocabulary import XSD

__all__ = ["DECIMAL", "converted", "in_unit", "is_area", "is_length"]

DECIMAL: Final = XSD.decimal


def converted(context: Context, quantity: Quantity, value: Literal, unit: str | None) -> Literal | None:
    """Return a value in the unit of a quantity; None where the units do not fit."""
    wanted: str | None
    if isinstance(quantity, SizeOf):
        wanted = "M2" if quantity.size == "area" else "M"
    elif isinstance(quantity, DistanceTo):
        wanted = "M"
    else:
        known = (
            context.typing.schema.properties.get(quantity.path[-1].iri)
            if isinstance(quantity, ValueOf)
            else None
        )
        wanted = (
            known.unit.value.rpartition("/")[2]
            if known is not None and known.unit
            else _unit_in_name(quantity)
        )
    if unit is None:
        return value if not isinstance(quantity, SizeOf | DistanceTo) else None
    if unit == wanted:
        return value
    if (
        wanted is None
        or unit not in UNITS
        or wanted not in UNITS
        or UNITS[unit].quantity != UNITS[wanted].quantity
    ):
        return None
    number = Decimal(value.value) * UNITS[unit].factor / UNITS[wanted].factor
    return Literal(
        f"{number:f}".rstrip("0").rstrip(".") if "." in f"{number:f}" else f"{number:f}", datatype=DECIMAL
    )


def _unit_in_name(quantity: Quantity) -> str | None:
    """The unit that a property's name ends with: "weight (g)"."""
    from extractors.english.quantities import unit_of

    words = quantity.path[-1].words if isinstance(quantity, ValueOf) else ""
    inside = words.partition("(")[2].partition(")")[0]
    return unit_of(inside) if inside else None


def in_unit(quantity: Quantity, unit: str) -> Quantity | None:
    """Return a quantity in a unit; None where it cannot be given in it."""
    own = "KiloM2" if quantity == SizeOf(Size.AREA) else "KiloM"
    if isinstance(quantity, ValueOf):
        own = quantity.path[-1].unit
    elif not isinstance(quantity, DistanceTo | SizeOf):
        return None
    if unit == own:
        return quantity
    fits = own in UNITS and unit in UNITS and UNITS[own].quantity == UNITS[unit].quantity
    return Converted(quantity, unit) if fits else None


def is_length(unit: str | None) -> bool:
    """Return whether a unit is one of length, and so of distance."""
    return unit in UNITS and UNITS[unit].quantity == UNITS["M"].quantity


def is_area(unit: str | None) -> bool:
    """Return whether a unit is one of area."""
    return unit in UNITS and UNITS[unit].quantity == UNITS["M2"].quantity
