"""The exceptions of this package.

    GeoError (ValueError)
    ├── GeometryError            a literal or a shape that cannot be read
    │   ├── AxisOrderError       coordinates outside longitude/latitude range
    │   ├── InvalidShapeError    a shape that breaks the simple-feature rules, with repair switched off
    │   └── UnknownCrsError      a coordinate reference system that is not known
    ├── UnitError                a unit of measure that is not known or does not fit
    ├── ArgumentError            a function called with arguments it does not take
    └── MissingFeatureError      a key that is not in the index, or is in it already

Every message ends with what the reader can do about it.
"""


class GeoError(ValueError):
    """The base of all errors of this package."""


class GeometryError(GeoError):
    """A literal or shape that cannot be read as a geometry."""


class AxisOrderError(GeometryError):
    """Coordinates lie outside the range of longitudes and latitudes."""


class InvalidShapeError(GeometryError):
    """A shape breaks the simple-feature rules (self-crossing ring, ...) and may not be repaired."""


class UnknownCrsError(GeometryError):
    """The coordinate reference system of a literal is not known."""


class UnitError(GeoError):
    """A unit of measure is not known, or measures the wrong quantity."""


class ArgumentError(GeoError):
    """A function was called with the wrong number or kind of arguments."""


class MissingFeatureError(GeoError, KeyError):
    """An index does not hold the requested key, or already holds a key to be added."""

    __str__ = ValueError.__str__
