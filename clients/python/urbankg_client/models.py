"""Models of the server's answers, made of its description by `clients/generate_models.py`."""

from __future__ import annotations

from typing import Annotated, Literal, Union

from pydantic import BaseModel, Field, RootModel


class AskEntity(BaseModel):
    """
    What a name of the question was linked to.
    """

    name: str
    iri: str
    label: str
    classes: list[str]
    start: int
    end: int
    score: float
    reason: Literal["label", "near"]


class AskTrace(BaseModel):
    """
    One step of how the answer was found.
    """

    thought: str
    action: str
    observation: str


class Candidate(BaseModel):
    """
    An entity of the graph that a name may mean.
    """

    iri: str
    label: str
    classes: list[str]


class ChatMessage(BaseModel):
    """
    A message to the model.
    """

    role: str
    content: str


class Choice(BaseModel):
    """
    An entity of a statement of which a person says which one it is: a candidate, or a new one.
    """

    entity: str
    name: str
    candidates: list[Candidate]


class Comment(BaseModel):
    """
    What a person noted on an item.
    """

    text: str
    by: str
    at: str


class Cost(BaseModel):
    """
    Money.
    """

    amount: float
    currency: str


class Decision(BaseModel):
    """
    What a person decided.
    """

    iri: str
    outcome: str
    by: str | None
    at: str | None
    reason: str | None


class Gap(BaseModel):
    """
    One thing that is missing, as a sentence and as a triple; `step` is a plan's step, 0 for none.
    """

    kind: Literal["entity", "schema", "data", "ambiguous"]
    message: str
    step: int
    subject: str
    property: str
    object: str


class GeometryClaim(BaseModel):
    """
    What a statement says of where its subject is, and what the geometries say.
    """

    stated: str | None
    computed: Annotated[str, Field(description="The RCC8 relation of the geometries.")]
    distance_m: float | None


class Incomplete(BaseModel):
    """
    Why a text was not read to its end, and the code point of it where that stopped.

    The time for an extraction was over: the setting `extraction_timeout`.
    """

    reason: str
    at: int


class ItemNames(BaseModel):
    """
    The words for the ends of a statement.
    """

    subject: str | None
    object: str | None


class Job(BaseModel):
    """
    Many documents that are extracted in the background, and their progress.
    """

    id: str
    name: str | None
    state: str
    created: str | None
    ended: str | None
    by: str | None
    source: str | None
    concurrency: int | None
    again: bool
    method: str | None
    problem: str | None
    total: int
    finished: int
    documents: Annotated[dict[str, int], Field(description="How many documents are in each state.")]


class JobDocument(BaseModel):
    """
    What became of one document of a job.

    The state is `committed` where at least one statement is in the graph, `nothing found` where the text gave
    none, and `waits for review` where all of its statements wait for a person. `rejected`: the text is
    unusable. `failed`: the model gave no usable reply. `duplicate`: the job or the graph has the text.
    """

    position: int
    name: str | None
    source: str | None
    state: Literal[
        "pending",
        "extracting",
        "extracted",
        "committed",
        "nothing found",
        "waits for review",
        "rejected",
        "failed",
        "duplicate",
        "cancelled",
    ]
    characters: int
    document: str
    run: str | None
    attempts: int
    error: str | None
    same_as: int | None
    revision: int | None
    accepted: int | None
    refused: int | None
    warned: int | None
    incomplete: Annotated[Incomplete | None, Field(description="Null where all of the text was read.")]


class JobDocumentPage(BaseModel):
    """
    A page of a job's documents in the order of posting.
    """

    total: int
    offset: int
    limit: int
    documents: list[JobDocument]


class JobPage(BaseModel):
    """
    A page of jobs, the newest first.
    """

    total: int
    offset: int
    limit: int
    jobs: list[Job]


class JsonObject(
    RootModel[
        dict[
            str,
            Union[
                str,
                bool,
                int,
                float,
                "JsonObject",
                list[
                    Union[
                        str,
                        bool,
                        int,
                        float,
                        "JsonObject",
                        list[Union[str, bool, int, float, "JsonObject"] | None],
                    ]
                    | None
                ],
            ]
            | None,
        ]
    ]
):
    root: dict[
        str,
        str
        | bool
        | int
        | float
        | JsonObject
        | list[
            str | bool | int | float | JsonObject | list[str | bool | int | float | JsonObject | None] | None
        ]
        | None,
    ]


class LineString(BaseModel):
    """
    A line through positions (RFC 7946, 3.1.4).
    """

    type: Literal["LineString"]
    coordinates: list[list[float]]


class ModelState(BaseModel):
    """
    What is known of the model's server without a request to it.
    """

    kind: str | None = None
    version: str | None = None
    schema_: Annotated[str | None, Field(alias="schema")] = None
    adapter: str | None = None
    circuit: str | None = None
    opened: bool | None = None
    url: str | None = None
    model: str | None = None
    adapters: list[str] | None = []
    max_input_tokens: int | None = None
    max_total_tokens: int | None = None
    server_concurrency: int | None = None
    concurrency: int | None = None
    in_flight: int | None = None
    waiting: int | None = None
    problem: str | None = None


class MultiLineString(BaseModel):
    """
    Lines (RFC 7946, 3.1.5).
    """

    type: Literal["MultiLineString"]
    coordinates: list[list[list[float]]]


class MultiPoint(BaseModel):
    """
    Positions (RFC 7946, 3.1.3).
    """

    type: Literal["MultiPoint"]
    coordinates: list[list[float]]


class MultiPolygon(BaseModel):
    """
    Polygons (RFC 7946, 3.1.7).
    """

    type: Literal["MultiPolygon"]
    coordinates: list[list[list[list[float]]]]


class PlanStep(BaseModel):
    """
    A step of the plan in words; the last has the `tree` of the whole plan.
    """

    op: str
    sentence: str
    iris: dict[str, str] | None = {}
    km: float | None = None
    tree: JsonObject | None = None


class Point(BaseModel):
    """
    A position: longitude, latitude, and height where it has one (RFC 7946, 3.1.2).
    """

    type: Literal["Point"]
    coordinates: list[float]


class Polygon(BaseModel):
    """
    A border, and those of its holes (RFC 7946, 3.1.6).
    """

    type: Literal["Polygon"]
    coordinates: list[list[list[float]]]


class Quote(BaseModel):
    """
    Words of a text; code points, end exclusive.
    """

    start: int
    end: int
    quote: str


class ResultsHead(BaseModel):
    """
    The variables of a result.
    """

    vars: list[str] | None = []
    link: list[str] | None = []


class Sentence(BaseModel):
    """
    The sentence of the quote, in three parts.
    """

    before: str
    quote: str
    after: str


class SimilarEntity(BaseModel):
    """
    An entity whose name is like another one, and how much (0 to 1).
    """

    iri: str
    label: str
    classes: list[str]
    score: float


class StageCost(BaseModel):
    """
    What one stage of an extraction needed.
    """

    stage: str
    turns: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int


class StoreFacts(BaseModel):
    """
    What the store guarantees; the members after `kind` are those of a remote one.
    """

    kind: Literal["embedded", "remote"]
    url: str | None = None
    server: str | None = None
    default_graph: str | None = None
    row_limit: int | None = None
    datatypes_kept_apart: list[str] | None = []
    beside: list[str] | None = []
    not_promised: list[str] | None = []


class Suggestion(BaseModel):
    """
    An entity, class or property that words may mean.
    """

    iri: str
    label: str
    kind: str
    classes: list[str]


class SuggestionsAnswer(BaseModel):
    """
    What words may mean, the best match first.
    """

    suggestions: list[Suggestion]


class TasksUsage(BaseModel):
    """
    What a thousand such tasks would need.
    """

    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: Cost | None


class UnchangedItem(BaseModel):
    """
    An item that was in this state already.
    """

    id: str
    status: str


class Usage(BaseModel):
    """
    Calls of the model, tokens, and money where prices are set.
    """

    calls: int
    failed: int
    retries: int
    prompt_tokens: int
    completion_tokens: int
    model_seconds: float
    cost: Cost | None
    per_1000_tasks: TasksUsage | None = None


class WindowTurn(BaseModel):
    """
    A turn, with the part of the text that it is about.
    """

    stage: str
    prompt: str
    messages: list[ChatMessage]
    reply: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float | None
    error: str | None
    start: int
    end: int


class Entity(BaseModel):
    """
    An entity that a text names.
    """

    iri: str
    label: str
    classes: list[str]
    new: bool
    mentions: list[Quote]


class GeometryCollection(BaseModel):
    """
    Geometries of several kinds (RFC 7946, 3.1.8).
    """

    type: Literal["GeometryCollection"]
    geometries: list[
        Point | MultiPoint | LineString | MultiLineString | Polygon | MultiPolygon | GeometryCollection
    ]


class Health(BaseModel):
    """
    The process lives. `version` is the program's, `api` that of the interface.
    """

    status: Literal["ok"]
    version: str
    api: str
    revision: int
    store: StoreFacts
    model: str
    model_state: ModelState
    ontology: str
    shapes: str | None


class Trace(BaseModel):
    """
    Every prompt and every reply of an extraction.
    """

    model: str
    adapter: str | None
    prompt_version: str
    method: str
    seconds: float
    stages: list[StageCost]
    windows: list[WindowTurn]


class GeoJsonFeature(BaseModel):
    """
    A GeoJSON feature (RFC 7946, 3.2).
    """

    type: Literal["Feature"]
    id: str | None = None
    geometry: (
        Point | MultiPoint | LineString | MultiLineString | Polygon | MultiPolygon | GeometryCollection | None
    )
    properties: dict[
        str,
        str
        | bool
        | int
        | float
        | list[str | bool | int | float | dict[str, str | bool | int | float | None] | None]
        | None,
    ]


class FeatureCollection(BaseModel):
    """
    A GeoJSON feature collection (RFC 7946, 3.3) in CRS84.
    """

    type: Literal["FeatureCollection"]
    numberMatched: int | None = None
    features: list[GeoJsonFeature]


class AskAnswer(BaseModel):
    """
    The answer to a question; `answer` is null where there is none, and `gaps` then says why.
    """

    answer: str | None
    sparql: str | None
    plan: list[PlanStep] | None
    entities: list[AskEntity]
    results: SparqlResults | None
    map: FeatureCollection | None
    gaps: list[Gap]
    trace: list[AskTrace]
    usage: Usage


class DecisionAnswer(BaseModel):
    """
    What came of a decision. `left` counts the items beyond those that one request decides.
    """

    decision: str | None
    items: list[ReviewItem]
    refused: list[RefusedItem]
    unchanged: list[UnchangedItem]
    added: Annotated[
        list[Statement],
        Field(description="What entered the graph, or got another source."),
    ]
    withdrawn: Annotated[
        list[Statement],
        Field(description="What lost a source; it stays where it has another."),
    ]
    fallen: Annotated[list[Statement], Field(description="What left the graph with it.")]
    revived: Annotated[list[Statement], Field(description="What came back into the graph with it.")]
    revision: int | None
    left: int | None = 0


class ExtractionAnswer(BaseModel):
    """
    What became of a text, or of a client's statements.
    """

    id: str
    accepted: list[Statement]
    rejected: list[Rejection]
    warnings: list[Rejection]
    derived: Annotated[int, Field(description="How many spatial relations were derived.")]
    revision: Annotated[int | None, Field(description="Of the graph; null where nothing was written.")]
    replaced: Annotated[list[Statement], Field(description="What a more exact date took the place of.")]
    entities: list[Entity]
    usage: Usage | None
    incomplete: Annotated[Incomplete | None, Field(description="Null where all of the text was read.")]
    trace: Trace | None


class GraphWritten(BaseModel):
    """
    A graph that was written, where there is something to say of it.
    """

    revision: int | None
    accepted: int
    rejected: list[Rejection]
    warnings: list[Rejection]


class ReadReviewItem(BaseModel):
    """
    A review item with its sentence, null without a text, and the names of the IRIs in it.
    """

    id: str
    iri: str
    statement: Statement
    names: ItemNames
    violations: list[Violation]
    reply: str | None
    status: str
    accepted: bool
    seen: int
    created: str | None
    run: str | None
    document: str | None
    source: str | None
    assignee: str | None
    comments: list[Comment]
    decisions: list[Decision]
    sentence: Sentence | None
    labels: dict[str, str]


class RefusedItem(BaseModel):
    """
    An item that the gate still refuses.
    """

    id: str
    violations: list[Violation]


class Rejection(BaseModel):
    """
    A statement that was refused or is doubted, with every reason.
    """

    statement: Statement
    violations: list[Violation]


class ResultsBindings(BaseModel):
    """
    The rows of a result.
    """

    bindings: list[dict[str, Term]]


class ReviewItem(BaseModel):
    """
    A statement that waits for a person, or waited.
    """

    id: str
    iri: str
    statement: Statement
    names: ItemNames
    violations: list[Violation]
    reply: str | None
    status: str
    accepted: bool
    seen: int
    created: str | None
    run: str | None
    document: str | None
    source: str | None
    assignee: str | None
    comments: list[Comment]
    decisions: list[Decision]


class ReviewItems(BaseModel):
    """
    A page of review items, the newest first; `notes` says what is odd about the filter.
    """

    total: int
    offset: int
    limit: int
    items: list[ReadReviewItem]
    notes: list[str]


class ShownReviewItem(BaseModel):
    """
    A review item with the entities that its names may mean, by the end of the statement.

    `choices` are what has to be answered in `entities` when it is accepted.
    """

    id: str
    iri: str
    statement: Statement
    names: ItemNames
    violations: list[Violation]
    reply: str | None
    status: str
    accepted: bool
    seen: int
    created: str | None
    run: str | None
    document: str | None
    source: str | None
    assignee: str | None
    comments: list[Comment]
    decisions: list[Decision]
    sentence: Sentence | None
    labels: dict[str, str]
    similar: dict[str, list[SimilarEntity]]
    choices: list[Choice]


class SparqlResults(BaseModel):
    """
    SPARQL 1.1 Query Results JSON: `results` of a SELECT, `boolean` of an ASK.
    """

    head: ResultsHead
    results: ResultsBindings | None = None
    boolean: bool | None = None


class Statement(BaseModel):
    """
    A statement with the words it rests on and how sure its source is (0 to 1).
    """

    subject: Annotated[str, Field(description="An IRI, or `_:` and the identifier of a blank node.")]
    predicate: str
    object: Term
    evidence: Quote | None
    confidence: float | None
    inferred: Annotated[list[str], Field(description="Which parts do not stand in the text itself.")]
    geocoded_from: str | None
    geometry: GeometryClaim | None


class SuggestedCorrection(BaseModel):
    """
    A statement that the gate would accept in an item's place, and what differs.
    """

    changes: Annotated[str, Field(description="value, object, subject, property or direction.")]
    statement: Statement
    labels: dict[str, str]


class SuggestedCorrections(BaseModel):
    """
    Corrections of an item, the likeliest first.
    """

    suggestions: list[SuggestedCorrection]


class Term(BaseModel):
    """
    A term as in SPARQL 1.1 Query Results JSON (3.2.2).
    """

    type: Literal["uri", "literal", "bnode", "triple"]
    value: str | TripleTerm
    datatype: Annotated[str | None, Field(description="Of a literal that is no plain string.")] = ""
    xml_lang: Annotated[str | None, Field(alias="xml:lang", description="Of a literal in a language.")] = ""


class TripleTerm(BaseModel):
    """
    The parts of a triple that is a term (RDF 1.2).
    """

    subject: Term
    predicate: Term
    object: Term


class UpdateAnswer(BaseModel):
    """
    An update that was carried out; `accepted` and `rejected` with `partial`.
    """

    revision: int | None
    warnings: list[Rejection]
    accepted: int | None = None
    rejected: Annotated[list[Rejection] | None, Field(validate_default=True)] = []


class Violation(BaseModel):
    """
    Why a statement does not conform (SHACL, 3.6.2).
    """

    message: Annotated[
        str,
        Field(description="By `Accept-Language`, where the shape has it in several languages."),
    ]
    focus: Term
    shape: str | None
    component: str
    path: str | None
    value: Term | None
    severity: Literal["Violation", "Warning", "Info"]


JsonObject.model_rebuild()
GeometryCollection.model_rebuild()
AskAnswer.model_rebuild()
DecisionAnswer.model_rebuild()
ExtractionAnswer.model_rebuild()
GraphWritten.model_rebuild()
ReadReviewItem.model_rebuild()
RefusedItem.model_rebuild()
Rejection.model_rebuild()
ResultsBindings.model_rebuild()
ReviewItem.model_rebuild()
ShownReviewItem.model_rebuild()
Statement.model_rebuild()
Term.model_rebuild()
