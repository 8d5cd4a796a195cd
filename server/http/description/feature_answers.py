"""Models of the answers of OGC API - Features (17-069r4)."""

from __future__ import annotations

from typing import Literal

from server.http.description.parts import Answer, FeatureCollection, GeoJsonFeature


class ApiLink(Answer):
    """A link (RFC 8288)."""

    href: str
    rel: str
    type: str | None = None
    title: str | None = None


class LandingPage(Answer):
    """Where everything is."""

    title: str
    description: str
    links: list[ApiLink]


class Conformance(Answer):
    """The conformance classes of the standard that the API has."""

    conformsTo: list[str]


class SpatialExtent(Answer):
    """Boxes in a reference system: west, south, east, north."""

    bbox: list[list[float]]
    crs: str


class Extent(Answer):
    """Where the features of a collection are."""

    spatial: SpatialExtent


class Collection(Answer):
    """The features of one class."""

    id: str
    title: str
    description: str
    itemType: Literal["feature"]
    extent: Extent
    crs: list[str]
    links: list[ApiLink]


class CollectionList(Answer):
    """All collections."""

    links: list[ApiLink]
    collections: list[Collection]


class FeaturePage(FeatureCollection):
    """A page of features, with links to those around it."""

    timeStamp: str
    numberReturned: int
    links: list[ApiLink]


class CollectionFeature(GeoJsonFeature):
    """One feature, with links to itself and its collection."""

    links: list[ApiLink]
