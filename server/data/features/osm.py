"""OpenStreetMap files (PBF or XML): tagged nodes are points, ways lines or areas, multipolygons areas."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import shapely
from shapely.geometry.base import BaseGeometry

from server.data.features.records import Record, needed, unreadable

# A closed way with one of these tags is a closed line, unless it has area=yes.
_LINEAR = ("highway", "barrier", "railway", "waterway", "aerialway", "power")
#: The columns of every element besides its tags: `node/1`, `way/2`, `relation/3`; `node` ...
IDENTIFIER, KIND = "@id", "@type"


class OsmFile:
    """The tagged elements of one file; columns are tags. Raises LoadError when it cannot be read.

    An element whose nodes are not all in the file has no geometry.
    """

    columns = None
    count = None

    def __init__(self, path: Path) -> None:
        self._osmium = needed("osmium", "osmium", path)
        if not path.is_file():
            raise unreadable(path, "it is not a file")
        self.path = path
        self.layer = path.name.partition(".")[0]

    def records(self) -> Iterator[Record]:
        """The tagged elements in the order of the file, areas last. Raises LoadError."""
        shapes = self._osmium.geom.WKBFactory()
        try:
            # As an absolute path, since the library reads a leading `http:` as another host.
            processor = self._osmium.FileProcessor(str(self.path.resolve())).with_locations().with_areas()
            for element in processor:
                if len(element.tags):
                    record = self._record(element, dict(element.tags), shapes)
                    if record is not None:
                        yield record
        except RuntimeError as error:
            raise unreadable(self.path, error) from error

    def _record(self, element: Any, tags: dict[str, str], shapes: Any) -> Record | None:
        if element.is_node():
            return _named("node", element.id, tags, self._shape(shapes.create_point, element))
        if element.is_way():
            if element.is_closed() and is_area(tags):
                return None
            return _named("way", element.id, tags, self._shape(shapes.create_linestring, element))
        if not element.is_area() or (element.from_way() and not is_area(tags)):
            return None
        kind = "way" if element.from_way() else "relation"
        return _named(kind, element.orig_id(), tags, self._shape(shapes.create_multipolygon, element))

    def _shape(self, create: Any, element: Any) -> BaseGeometry | None:
        try:
            shape: BaseGeometry = shapely.from_wkb(create(element))
        except (self._osmium.InvalidLocationError, RuntimeError):
            return None
        parts = shapely.get_parts(shape)
        return parts[0] if len(parts) == 1 else shape


def is_area(tags: Mapping[str, str]) -> bool:
    """Whether a closed way with these tags is an area."""
    if "area" in tags:
        return tags["area"] != "no"
    return not any(key in tags for key in _LINEAR)


def _named(kind: str, number: int, tags: dict[str, str], shape: BaseGeometry | None) -> Record:
    identifier = f"{kind}/{number}"
    return Record(identifier, {**tags, IDENTIFIER: identifier, KIND: kind}, shape)
