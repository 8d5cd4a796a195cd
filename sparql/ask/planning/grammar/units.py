"""Values in the unit of a quantity."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from pyoxigraph import Literal

from extractors.english.stated_units import unit_in_label, unit_of_property
from geo.measure.units import UNITS
from sparql.ask.plan.nodes import Quantity
from sparql.ask.plan.quantities import Converted, DistanceTo, SizeOf, ValueOf
from sparql.ask.planning.rules import Context
from sparql.model.vocabulary import XSD

__all__ = ["DECIMAL", "converted", "in_unit", "is_area", "is_length"]

DECIMAL: Final = XSD.decimal


def converted(context: Context, quantity: Quantity, value: Literal, unit: str | None) -> Literal | None:
    """Return a value in the unit of a quantity; None where the units do not fit."""
    measured = isinstance(quantity, SizeOf | DistanceTo)
    wanted = quantity.query_unit if measured else _stated(context, quantity)
    if unit is None:
        return None if measured else value
    if unit == wanted:
        return value
    if wanted is None or not _fits(unit, wanted):
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
    if not isinstance(quantity, ValueOf | DistanceTo | SizeOf):
        return None
    if unit == quantity.answer_unit:
        return quantity
    return Converted(quantity, unit) if _fits(quantity.answer_unit, unit) else None


def _fits(unit: str, other: str) -> bool:
    return unit in UNITS and other in UNITS and UNITS[unit].quantity == UNITS[other].quantity


def is_length(unit: str | None) -> bool:
    """Return whether a unit is one of length, and so of distance."""
    return unit in UNITS and UNITS[unit].quantity == UNITS["M"].quantity


def is_area(unit: str | None) -> bool:
    """Return whether a unit is one of area."""
    return unit in UNITS and UNITS[unit].quantity == UNITS["M2"].quantity
