"""Models of what several answers have: terms, statements, violations, usage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType


class Answer(BaseModel):
    """An answer, or a part of one. A member with a default may be absent; others are always there."""

    model_config = ConfigDict(populate_by_name=True)


class TripleTerm(Answer):
    """The parts of a triple that is a term (RDF 1.2)."""

    subject: Term
    predicate: Term
    object: Term


class Term(Answer):
    """A term as in SPARQL 1.1 Query Results JSON (3.2.2)."""

    type: Literal["uri", "literal", "bnode", "triple"]
    value: str | TripleTerm
    datatype: str = Field("", description="Of a literal that is no plain string.")
    lang: str = Field("", alias="xml:lang", description="Of a literal in a language.")


class Quote(Answer):
    """Words of a text; code points, end exclusive."""

    start: int
    end: int
    quote: str


class GeometryClaim(Answer):
    """What a statement says of where its subject is, and what the geometries say."""

    stated: str | None
    computed: str = Field(description="The RCC8 relation of the geometries.")
    distance_m: float | None


class Statement(Answer):
    """A statement with the words it rests on and how sure its source is (0 to 1)."""

    subject: str = Field(description="An IRI, or `_:` and the identifier of a blank node.")
    predicate: str
    object: Term
    evidence: Quote | None
    confidence: float | None
    inferred: list[str] = Field(description="Which parts do not stand in the text itself.")
    geocoded_from: str | None
    geometry: GeometryClaim | None


class Violation(Answer):
    """Why a statement does not conform (SHACL, 3.6.2)."""

    message: str = Field(description="By `Accept-Language`, where the shape has it in several languages.")
    focus: Term
    shape: str | None
    component: str
    path: str | None
    value: Term | None
    severity: Literal["Violation", "Warning", "Info"]


class Rejection(Answer):
    """A statement that was refused or is doubted, with every reason."""

    statement: Statement
    violations: list[Violation]


class Cost(Answer):
    """Money."""

    amount: float
    currency: str


class TasksUsage(Answer):
    """What a thousand such tasks would need."""

    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: Cost | None


class Usage(Answer):
    """Calls of the model, tokens, and money where prices are set."""

    calls: int
    failed: int
    retries: int
    prompt_tokens: int
    completion_tokens: int
    model_seconds: float
    cost: Cost | None
    per_1000_tasks: TasksUsage | None = None


class Page(Answer):
    """One page of a list; the `Link` header names those around it."""

    total: int
    offset: int
    limit: int


class Decision(Answer):
    """What a person decided."""

    iri: str
    outcome: str
    by: str | None
    at: str | None
    reason: str | None


class Point(Answer):
    """A position: longitude, latitude, and height where it has one (RFC 7946, 3.1.2)."""

    type: Literal["Point"]
    coordinates: list[float]


class MultiPoint(Answer):
    """Positions (RFC 7946, 3.1.3)."""

    type: Literal["MultiPoint"]
    coordinates: list[list[float]]


class LineString(Answer):
    """A line through positions (RFC 7946, 3.1.4)."""

    type: Literal["LineString"]
    coordinates: list[list[float]]


class MultiLineString(Answer):
    """Lines (RFC 7946, 3.1.5)."""

    type: Literal["MultiLineString"]
    coordinates: list[list[list[float]]]


class Polygon(Answer):
    """A border, and those of its holes (RFC 7946, 3.1.6)."""

    type: Literal["Polygon"]
    coordinates: list[list[list[float]]]


class MultiPolygon(Answer):
    """Polygons (RFC 7946, 3.1.7)."""

    type: Literal["MultiPolygon"]
    coordinates: list[list[list[list[float]]]]


class GeometryCollection(Answer):
    """Geometries of several kinds (RFC 7946, 3.1.8)."""

    type: Literal["GeometryCollection"]
    geometries: list[Geometry]


Geometry = Point | MultiPoint | LineString | MultiLineString | Polygon | MultiPolygon | GeometryCollection


Scalar = str | bool | int | float | None
PropertyValue = Scalar | list[Scalar | dict[str, Scalar]]
# Through objects alone: generators of clients make no type of a union that names itself.
JsonObject = TypeAliasType(
    "JsonObject", "dict[str, Scalar | JsonObject | list[Scalar | JsonObject | list[Scalar | JsonObject]]]"
)


class GeoJsonFeature(Answer):
    """A GeoJSON feature (RFC 7946, 3.2)."""

    type: Literal["Feature"]
    id: str | None = None
    geometry: Geometry | None
    properties: dict[str, PropertyValue]


class FeatureCollection(Answer):
    """A GeoJSON feature collection (RFC 7946, 3.3) in CRS84."""

    type: Literal["FeatureCollection"]
    numberMatched: int | None = None
    features: list[GeoJsonFeature]


@dataclass(frozen=True)
class Example:
    """One request and its answer: their contents under their media types; none where there is no body."""

    status: str
    request: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=dict)


def examples() -> dict[str, Example]:
    """The examples by the identifiers of their operations."""
    text = files("server.http.description").joinpath("examples.json").read_text(encoding="utf-8")
    return {name: Example(**members) for name, members in json.loads(text).items()}


def add_example(operation: dict[str, Any], example: Example) -> None:
    """Put an example where the description of its operation has its media types."""
    answer = operation["responses"].get(example.status, {})
    for described, contents in (
        (operation.get("requestBody", {}), example.request),
        (answer, example.answer),
    ):
        for kind, content in contents.items():
            if kind in described.get("content", {}):
                described["content"][kind] = {**described["content"][kind], "example": content}
