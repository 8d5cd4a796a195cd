"""The unit of a property's plain numbers: as the ontology states it, else by words of label or definition."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.quantities import unit_of
from extractors.english.values import is_measured
from geo.measure.units import QUDT_UNIT, UNITS
from ontology import OntologyProperty

__all__ = ["unit_in_label", "unit_of_property"]

_LABEL: Final = re.compile(r"[(\[]([^()\[\]]+)[)\]]\s*$|[, ]in ([^\d\W][\w²³/ ]*)$", re.IGNORECASE)
_DEFINITION: Final = re.compile(
    r"\bin ([^\d\W][\w²³/]*(?: [\w²³/]+){0,2})(?=\s*(?:[.,;:()]|$))", re.IGNORECASE
)


def unit_of_property(term: OntologyProperty) -> NamedNode | None:
    """`qudt:hasUnit`; else the unit at the end of the label; else "in meters" in a definition of numbers."""
    if term.unit is not None:
        return term.unit
    name = unit_in_label(term.label)
    if name is None and is_measured(term.ranges, None):
        name = _unit_among(term.definition)
    return NamedNode(QUDT_UNIT + name) if name is not None else None


@lru_cache(maxsize=4_000)
def unit_in_label(label: str) -> str | None:
    """The QUDT name of the unit that a label ends with: "weight (g)", "height in feet"."""
    found = _LABEL.search(label)
    return _whole_unit(found[1] or found[2]) if found else None


@lru_cache(maxsize=4_000)
def _unit_among(definition: str) -> str | None:
    """The only unit that a definition says numbers are in; None where it says none, or several."""
    units = {name for found in _DEFINITION.finditer(definition) if (name := _whole_unit(found[1]))}
    return units.pop() if len(units) == 1 else None


def _whole_unit(words: str) -> str | None:
    """A unit that is all of some words: "feet tall" is none."""
    unit = unit_of(words)
    shorter = words.rpartition(" ")[0]
    return unit if unit in UNITS and not (shorter and unit_of(shorter) == unit) else None
