"""Models of the answers about what people decide: review, proposals, documents, entities."""

from __future__ import annotations

from pydantic import Field

from server.http.description.parts import Answer, Decision, Page, Rejection, Statement, Violation


class SimilarEntity(Answer):
    """An entity whose name is like another one, and how much (0 to 1)."""

    iri: str
    label: str
    classes: list[str]
    score: float


class ItemNames(Answer):
    """The words for the ends of a statement."""

    subject: str | None
    object: str | None


class Comment(Answer):
    """What a person noted on an item."""

    text: str
    by: str
    at: str


class ReviewItem(Answer):
    """A statement that waits for a person, or waited."""

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


class Sentence(Answer):
    """The sentence of the quote, in three parts."""

    before: str
    quote: str
    after: str


class ReadReviewItem(ReviewItem):
    """A review item with its sentence, null without a text, and the names of the IRIs in it."""

    sentence: Sentence | None
    labels: dict[str, str]


class SuggestedCorrection(Answer):
    """A statement that the gate would accept in an item's place, and what differs."""

    changes: str = Field(description="value, object, subject, property or direction.")
    statement: Statement
    labels: dict[str, str]


class SuggestedCorrections(Answer):
    """Corrections of an item, the likeliest first."""

    suggestions: list[SuggestedCorrection]


class Candidate(Answer):
    """An entity of the graph that a name may mean."""

    iri: str
    label: str
    classes: list[str]


class Choice(Answer):
    """An entity of a statement of which a person says which one it is: a candidate, or a new one."""

    entity: str
    name: str
    candidates: list[Candidate]


class ShownReviewItem(ReadReviewItem):
    """A review item with the entities that its names may mean, by the end of the statement.

    `choices` are what has to be answered in `entities` when it is accepted.
    """

    similar: dict[str, list[SimilarEntity]]
    choices: list[Choice]


class ReviewItems(Page):
    """A page of review items, the newest first; `notes` says what is odd about the filter."""

    items: list[ReadReviewItem]
    notes: list[str]


class Facet(Answer):
    """A value, and how many items have it. The label is what people call a class, property or document."""

    value: str
    items: int
    label: str | None = None


class ReviewFacets(Answer):
    """The values by which items can be filtered, by the names of the filters."""

    total: int
    facets: dict[str, list[Facet]]


class ReviewGroup(Answer):
    """Items that wait by one cause."""

    group: str
    items: int
    shape: str | None
    component: str | None
    path: str | None
    severity: str | None
    example: str | None


class ReviewGroups(Page):
    """A page of causes, most items first."""

    groups: list[ReviewGroup]


class PastDecision(Decision):
    """A decision with the number of its items; `undoable` until all of them were decided again."""

    id: str
    items: int
    undoable: bool


class DecisionPage(Page):
    """A page of decisions, the newest first."""

    decisions: list[PastDecision]


class Assigned(Answer):
    """To whom how many items were assigned, and how many the request did not reach."""

    assignee: str | None
    items: int
    left: int


class RefusedItem(Answer):
    """An item that the gate still refuses."""

    id: str
    violations: list[Violation]


class UnchangedItem(Answer):
    """An item that was in this state already."""

    id: str
    status: str


class DecisionAnswer(Answer):
    """What came of a decision. `left` counts the items beyond those that one request decides."""

    decision: str | None
    items: list[ReviewItem]
    refused: list[RefusedItem]
    unchanged: list[UnchangedItem]
    added: list[Statement] = Field(description="What entered the graph, or got another source.")
    withdrawn: list[Statement] = Field(description="What lost a source; it stays where it has another.")
    fallen: list[Statement] = Field(description="What left the graph with it.")
    revived: list[Statement] = Field(description="What came back into the graph with it.")
    revision: int | None
    left: int = 0


class CountedTerm(Answer):
    """A class or datatype, and how often it was met."""

    iri: str
    label: str
    count: int


class ProposalExample(Answer):
    """One use of a word that the ontology does not have."""

    term: str
    statement: Statement
    names: ItemNames
    document: str | None
    source: str | None
    seen: str | None
    review: str | None


class Proposal(Answer):
    """A word that the ontology does not have, and how it was used."""

    id: str
    iri: str
    kind: str
    term: str
    forms: list[str]
    status: str
    accepted_as: str | None
    definition: str | None
    count: int
    documents: int
    first_seen: str | None
    last_seen: str | None
    domain: list[CountedTerm]
    range: list[CountedTerm]
    datatypes: list[CountedTerm]
    examples: list[ProposalExample]
    decisions: list[Decision]


class ProposalPage(Page):
    """A page of proposals, the most used first."""

    proposals: list[Proposal]


class Retried(Answer):
    """What came of the statements of an accepted term."""

    let_in: list[str]
    refused: list[RefusedItem]
    unread: list[str]
    left: int


class ProposalAnswer(Answer):
    """A proposal after a decision."""

    proposal: Proposal
    retried: Retried | None = None


class DocumentSummary(Answer):
    """A document."""

    id: str
    iri: str
    source: str | None
    characters: int | None
    posted: str | None
    times: int


class CountedDocument(DocumentSummary):
    """A document, with its numbers of accepted and of waiting statements."""

    statements: int
    open: int


class DocumentPage(Page):
    """A page of documents, the last posted first."""

    documents: list[CountedDocument]


class Run(Answer):
    """A run that read a document."""

    iri: str
    started: str | None
    ended: str | None
    model: str | None
    adapter: str | None
    prompt_version: str | None
    ontology_version: str | None
    ontologies: list[str]
    shapes_version: str | None


class DocumentStatement(Statement):
    """A statement of a document, and what became of it."""

    state: str
    model: str | None = None
    adapter: str | None = None
    prompt_version: str | None = None
    ontology_version: str | None = None
    ontologies: list[str] = []
    shapes_version: str | None = None
    reply: str | None
    run: str | None
    decision: str | None = None
    others: int = Field(0, description="How many other documents support it.")
    review: str | None = None
    violations: list[Violation] = []
    decisions: list[Decision] = []


class ShownDocument(Page, DocumentSummary):
    """A document with a page of its statements."""

    text: str | None
    runs: list[Run]
    statements: list[DocumentStatement]


class DocumentRemoval(Answer):
    """What was removed with a document."""

    removal: str
    removed: list[Statement]
    kept: int
    fallen: list[Statement]
    revived: list[Statement]
    relations_removed: int
    inferences_removed: int
    revision: int | None


class Merge(Answer):
    """Two entities that were found to be one."""

    id: str
    iri: str
    kept: str
    merged: str
    at: str | None
    by: str | None
    reason: str | None
    split: str | None


class MergePage(Page):
    """A page of merges."""

    merges: list[Merge]


class MergeAnswer(Answer):
    """What a merge or a split did."""

    merge: str | None
    statements: int
    dropped: list[Statement]
    rejected: list[Rejection]
    revision: int | None


class Suggestion(Answer):
    """An entity, class or property that words may mean."""

    iri: str
    label: str
    kind: str
    classes: list[str]


class SuggestionsAnswer(Answer):
    """What words may mean, the best match first."""

    suggestions: list[Suggestion]
