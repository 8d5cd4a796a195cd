"""Values in the unit of a quantity."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from pyoxigraph import Literal

from extractors.english.stated_units import unit_in_label, unit_of_property
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
        wanted = _stated(context, quantity)
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


def _stated(context: Context, quantity: Quantity) -> str | None:
    """The unit of a property's values, by the ontology or by the name of the property."""
    if not isinstance(quantity, ValueOf):
        return None
    step = quantity.path[-1]
    known = context.typing.schema.properties.get(step.iri)
    unit = unit_of_property(known) if known is not None else None
    return unit.value.rpartition("/")[2] if unit is not None else unit_in_label(step.words)


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
