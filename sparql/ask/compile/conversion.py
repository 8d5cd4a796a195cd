"""Values in a wanted unit."""

from __future__ import annotations

from geo.measure.units import UNITS
from sparql.ask.errors import PlanError
from sparql.ask.plan.nodes import DistanceTo, Quantity, Size, SizeOf, ValueOf

__all__ = ["conversion"]


def conversion(quantity: Quantity, unit: str) -> float:
    """Return what a value is multiplied with to be in a unit. Raises `PlanError` where it is in none."""
    match quantity:
        case DistanceTo() | SizeOf(Size.LENGTH):
            own = "M"
        case SizeOf():
            own = "M2"
        case _:
            own = quantity.path[-1].unit if isinstance(quantity, ValueOf) else ""
    if own not in UNITS or unit not in UNITS or UNITS[own].quantity != UNITS[unit].quantity:
        raise PlanError(f"This value cannot be given in {unit}.")
    return float(UNITS[own].factor / UNITS[unit].factor)
