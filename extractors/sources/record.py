"""One record of a source: what a row of a file or a message says about a place (UrbanKGent, section 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

__all__ = ["BrokenRecord", "SourceKind", "SourceRecord"]


class SourceKind(StrEnum):
    """What a record is about, or where its text comes from."""

    AREA = "area"
    ROAD = "road"
    POI = "poi"
    REVIEW = "review"
    PAGE = "page"

    @property
    def place_word(self) -> str | None:
        """What a place of this kind is called when nothing more is known of it; None where it is no place."""
        return _PLACE_WORDS.get(self)


_PLACE_WORDS: Final = {SourceKind.AREA: "area", SourceKind.ROAD: "road", SourceKind.POI: "place"}


@dataclass(frozen=True)
class SourceRecord:
    """A place and a text about it, either of which may be missing.

    `place` says where the record is, for people: "roads.jsonl, line 3". `type` is what sort of place it
    is, in words. `geometry` is in CRS84. `rating` is what a review gives. `iri_class` is the IRI of the class
    where the mapping names one.
    """

    place: str
    kind: SourceKind
    name: str = ""
    type: str = ""
    text: str = ""
    geometry: BaseGeometry | None = None
    rating: float | None = None
    url: str | None = None
    identifier: str | None = None
    iri_class: str | None = None


@dataclass(frozen=True)
class BrokenRecord:
    """A line, row or feature that could not be read, and why."""

    place: str
    reason: str
