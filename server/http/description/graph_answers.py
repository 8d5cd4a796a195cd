"""Models of the answers about graph, features, models of language and the state of the server."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from server.http.description.parts import (
    Answer,
    FeatureCollection,
    GeoJsonFeature,
    Rejection,
    Usage,
)
from server.http.description.text_answers import ChatMessage


class UpdateAnswer(Answer):
    """An update that was carried out; `accepted` and `rejected` with `partial`."""

    revision: int | None
    warnings: list[Rejection]
    accepted: int | None = None
    rejected: list[Rejection] = []


class GraphWritten(Answer):
    """A graph that was written, where there is something to say of it."""

    revision: int | None
    accepted: int
    rejected: list[Rejection]
    warnings: list[Rejection]


class RewrittenPart(Answer):
    """A part of a query that was rewritten, and what was done."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    rewriting: str
    part: str
    what: str


class PartLeft(Answer):
    """A part of a query that stays as it is, and why."""

    rewriting: str
    part: str
    why: str


class Explanation(Answer):
    """What was done to a query before it ran (`explain`)."""

    query: str
    rewritten: str
    revision: int
    done: list[RewrittenPart]
    left: list[PartLeft]
    warnings: list[str]


class StoreFacts(Answer):
    """What the store guarantees; the members after `kind` are those of a remote one."""

    kind: Literal["embedded", "remote"]
    url: str | None = None
    server: str | None = None
    default_graph: str | None = None
    row_limit: int | None = None
    datatypes_kept_apart: list[str] = []
    beside: list[str] = []
    not_promised: list[str] = []


class ModelState(Answer):
    """What is known of the model's server without a request to it."""

    kind: str | None = None
    version: str | None = None
    schema_: str | None = Field(None, alias="schema")
    adapter: str | None = None
    circuit: str | None = None
    opened: bool | None = None
    url: str | None = None
    model: str | None = None
    adapters: list[str] = []
    max_input_tokens: int | None = None
    max_total_tokens: int | None = None
    server_concurrency: int | None = None
    concurrency: int | None = None
    in_flight: int | None = None
    waiting: int | None = None
    problem: str | None = None


class Health(Answer):
    """The process lives. `version` is the program's, `api` that of the interface."""

    status: Literal["ok"]
    version: str
    api: str
    revision: int
    store: StoreFacts
    model: str
    model_state: ModelState
    ontology: str
    shapes: str | None


class ReadinessChecks(Answer):
    """`ok`, or why not."""

    readers: str
    store: str
    rules: str


class Readiness(Answer):
    """Whether to send traffic."""

    status: Literal["ready", "not ready"]
    checks: ReadinessChecks


class Access(Answer):
    """The name of the key that came with the request, and what it may do."""

    key: str | None
    scopes: list[str]


class Models(Answer):
    """The model, its state and its usage since the start."""

    model: str
    state: ModelState
    usage: Usage


class Probe(Answer):
    """How the model answered a short question; only `seconds` and `error` where it did not."""

    seconds: float
    error: str | None
    model: str | None = None
    adapter: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    tokens_per_second: float | None = None
    log_probabilities: bool | None = None


class ProbedModels(Models):
    """The same after a short question to the model."""

    probe: Probe


class ToolCall(Answer):
    """A tool that was called; `by_model`: the model asked for it."""

    tool: str
    result: str
    by_model: bool


class RelationTurn(Answer):
    """One request to the model and its reply."""

    stage: str
    messages: list[ChatMessage]
    reply: str | None
    error: str | None


class ModelOpinion(Answer):
    """What the model says of two places, apart from what is computed."""

    relation: str | None
    inside: Literal["a", "b"] | None
    agrees: bool | None
    error: str | None
    reasoning: str | None
    tools: list[ToolCall]
    rounds: int
    faithful: bool | None
    model: str | None
    prompt_version: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    turns: list[RelationTurn]


class RelationsAnswer(Answer):
    """How two geometries lie to each other; nulls where one is missing."""

    computed: bool
    relation: str | None
    inside: Literal["a", "b"] | None
    rcc8: str | None
    rcc5: str | None
    simple_features: list[str] | None
    relate: str | None
    tolerance_m: float | None
    distance_m: float | None
    distance_km: float | None
    model: ModelOpinion | None = None
    usage: Usage | None = None


class BackupAnswer(Answer):
    """A backup that was written."""

    folder: str
    revision: int
    taken_at: str
    files: list[str]
    layout: int
    not_included: str = ""


class Load(Answer):
    """What became of one file."""

    name: str
    accepted: int
    refused: int
    derived: int
    revision: int | None
    examples: str
    results: int
    violations: int
    left_out: int
    hint: str


class LoadsAnswer(Answer):
    """What became of the files."""

    loads: list[Load]


class Revision(Answer):
    """The revision of the graph."""

    revision: int


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


class VerdictPeriod(Answer):
    """How many statements the gate judged in an hour or a day. Those with a warning are accepted too."""

    start: str = Field(description="Its beginning, in UTC.")
    accepted: int
    refused: int
    warned: int


class ShapeVerdicts(Answer):
    """How many statements a shape refused and warned of; a statement counts for each of its shapes."""

    shape: str | None = Field(description="Its IRI; null for shapes without one and for other reasons.")
    refused: int
    warned: int
    refused_rate: float | None = Field(description="Share of all statements judged; null where none was.")
    warned_rate: float | None
    refused_by_period: list[int] = Field(description="In the order of `periods`.")
    warned_by_period: list[int]


class Verdicts(Answer):
    """The gate's verdicts over time, without dry runs."""

    step: Literal["hour", "day"]
    periods: list[VerdictPeriod] = Field(description="The oldest first; the last one is not over.")
    shapes: list[ShapeVerdicts] = Field(description="Those with most statements first, at most 200.")


class SlowQuery(Answer):
    """A query that took long. Times in seconds, from the request's head to the end of its answer."""

    query: str | None = Field(description="At most 4,000 characters; null for who may not see it.")
    complete: bool = Field(description="Whether that is all of the query.")
    times: int = Field(description="How often it took so long.")
    longest: float
    mean: float = Field(description="Of the times it took so long.")
    last: str = Field(description="When it ended last, in UTC.")
    status: int = Field(description="How it ended last (HTTP); 504 at its time limit, 499: its client left.")


class SlowQueries(Answer):
    """The slowest queries of the last day since the start, at most 100."""

    threshold: float = Field(description="Seconds from which on a query is kept.")
    queries: list[SlowQuery] = Field(description="The slowest first.")
