"""The eight tools of UrbanKGent as functions of queries, such as `ukgf:point2Polygon(?a, ?b)`.

They have the tools' names with a lower-case first letter, and take their geometries in either order. Those
that ask whether two geometries intersect are true or false, as filters need them.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from pyoxigraph import Literal

from geo.formats.literals import GeometryValue
from geo.functions.definitions import Definition, Parameter, Result
from geo.toolkit import TOOLS, Meeting, Tool
from geo.vocabulary import UKGF


def _called(tool: Tool) -> Callable[..., Result]:
    def call(*values: GeometryValue) -> Result:
        found = tool.call(*(value.shape for value in values))
        if isinstance(found, Meeting):
            return found is not Meeting.NONE
        return Literal(str(found)) if isinstance(found, str | StrEnum) else found

    return call


DEFINITIONS: Final[tuple[Definition, ...]] = tuple(
    Definition(
        (name[0].lower() + name[1:],),
        (Parameter.GEOMETRY,) * tool.geometries,
        _called(tool),
        namespace=UKGF,
    )
    for name, tool in TOOLS.items()
)
