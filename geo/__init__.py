"""Geometry: literals, reference systems, RCC8, the feature index, measures, GeoSPARQL functions."""

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
