"""Geometry: literals, reference systems, RCC8, the feature index, measures, GeoSPARQL functions.

The names are loaded on first use: a server starts, and its readers do, before all of this is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geo.crs import from_crs84, to_crs84
    from geo.errors import (
        ArgumentError,
        AxisOrderError,
        GeoError,
        GeometryError,
        InvalidShapeError,
        MissingFeatureError,
        UnitError,
        UnknownCrsError,
    )
    from geo.functions import AGGREGATES, FUNCTIONS, FunctionTable
    from geo.index import FeatureIndex
    from geo.literals import (
        GeometryValue,
        is_geometry_literal,
        parse_geometry,
        read_geometry,
        repair_shape,
        write_geometry,
    )
    from geo.measures import area_m2, buffer_m, distance_m, length_m, perimeter_m
    from geo.rcc8 import PROPERTIES, RCC5, RCC8, RELATIONS, Relation, relate, relate_pairs
    from geo.tolerance import relate_within

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "PROPERTIES",
    "RCC5",
    "RCC8",
    "RELATIONS",
    "ArgumentError",
    "AxisOrderError",
    "FeatureIndex",
    "FunctionTable",
    "GeoError",
    "GeometryError",
    "GeometryValue",
    "InvalidShapeError",
    "MissingFeatureError",
    "Relation",
    "UnitError",
    "UnknownCrsError",
    "area_m2",
    "buffer_m",
    "distance_m",
    "from_crs84",
    "is_geometry_literal",
    "length_m",
    "parse_geometry",
    "perimeter_m",
    "read_geometry",
    "relate",
    "relate_pairs",
    "relate_within",
    "repair_shape",
    "to_crs84",
    "write_geometry",
]

_NAMES = {
    "geo.crs": ("from_crs84", "to_crs84"),
    "geo.errors": (
        "ArgumentError",
        "AxisOrderError",
        "GeoError",
        "GeometryError",
        "InvalidShapeError",
        "MissingFeatureError",
        "UnitError",
        "UnknownCrsError",
    ),
    "geo.functions": ("AGGREGATES", "FUNCTIONS", "FunctionTable"),
    "geo.index": ("FeatureIndex",),
    "geo.literals": (
        "GeometryValue",
        "is_geometry_literal",
        "parse_geometry",
        "read_geometry",
        "repair_shape",
        "write_geometry",
    ),
    "geo.measures": ("area_m2", "buffer_m", "distance_m", "length_m", "perimeter_m"),
    "geo.rcc8": ("PROPERTIES", "RCC5", "RCC8", "RELATIONS", "Relation", "relate", "relate_pairs"),
    "geo.tolerance": ("relate_within",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
