"""The result of extraction: candidate statements with their evidence, and the record of their origin.

A candidate is a statement that the model made and that nothing has judged yet. What the pipeline itself
found wrong with it is attached as a `Problem`: the gate refuses such a candidate, and the review queue
shows the problem next to the text and the model's own words. Nothing is dropped silently.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode

from extractors.readers.reading import Turn


@dataclass(frozen=True)
class Incomplete:
    """Why an extraction ended early, and the code point of the text where it stopped."""

    reason: str
    at: int


class OutOfTime(Exception):
    """The time is over, or nobody waits for the result any more."""


class TimeLimit:
    """Ends work in threads, which cannot be cancelled from outside.

    `seconds` is the whole time (None: no limit); a part of it can be given to a part of the work.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._ends = None if seconds is None else clock() + seconds
        self._cancelled = False

    @property
    def left(self) -> float | None:
        """The seconds that are left; None without a limit."""
        return None if self._ends is None else max(0.0, self._ends - self._clock())

    def cancel(self) -> None:
        """End the work at its next check."""
        self._cancelled = True

    def check(self) -> None:
        """Raise `OutOfTime` when the work has to end."""
        if self._cancelled or (self._ends is not None and self._clock() >= self._ends):
            raise OutOfTime

    def part(self, share: float) -> Callable[[], None]:
        """A check that ends after this share of what is left, and with the whole."""
        left = self.left
        ends = None if left is None else self._clock() + share * left

        def check() -> None:
            self.check()
            if ends is not None and self._clock() >= ends:
                raise OutOfTime

        return check


SYSTEM: Final = "https://w3id.org/urbankg/system#"
"""The system vocabulary: our machinery's own terms, whatever the domain."""

UNKNOWN_TERM: Final = NamedNode(SYSTEM + "UnknownTerm")
"""The ontology has no such class or property: the statement is kept as a proposal."""
NOT_IN_TEXT: Final = NamedNode(SYSTEM + "NotInText")
"""The text does not contain the name or value that the model wrote."""
NOT_A_NAME: Final = NamedNode(SYSTEM + "NotAName")
"""A pronoun or common noun is used as a name."""
AMBIGUOUS_NAME: Final = NamedNode(SYSTEM + "AmbiguousName")
"""The name does not decide between entities: several bear it, or it is only spelled like a known one's."""
NAMESAKE: Final = NamedNode(SYSTEM + "Namesake")
"""The name is known, but the text does not agree with what is known of that entity."""
WRONG_CLASS: Final = NamedNode(SYSTEM + "WrongClass")
"""The name is known, but only as something of a class that does not fit here."""
VALUE_FOR_ENTITY: Final = NamedNode(SYSTEM + "ValueForEntity")
"""A date or a number is used as an entity."""
UNREADABLE_VALUE: Final = NamedNode(SYSTEM + "UnreadableValue")
"""The words cannot be read as a value of the property's datatypes and unit."""
HEDGED: Final = NamedNode(SYSTEM + "Hedged")
"""The text does not state it: denied, planned, supposed, ordered, quoted, fiction or a claim of others."""
LOW_CONFIDENCE: Final = NamedNode(SYSTEM + "LowConfidence")
"""The model was less sure than the settings demand."""
NOTHING_STANDS: Final = NamedNode(SYSTEM + "NothingStands")
"""A new entity of which no statement but its name is free of problems."""

UNWORDED: Final = NamedNode(SYSTEM + "Unworded")
"""The words of the text do not say this relation, or not of these two, or the other way round."""
RIVAL: Final = NamedNode(SYSTEM + "RivalStatement")
"""The same words support another relation better."""
IMPLIED_KIND: Final = NamedNode(SYSTEM + "ImpliedKind")
"""A warning: the class follows from the domain or range of a relation; the text does not state it."""
ASSUMED_KIND: Final = NamedNode(SYSTEM + "AssumedKind")
"""A warning: the class is the first of several that the relations of a name allow."""

HELD: Final = NamedNode(SYSTEM + "OpenExtraction")
"""Extracted in the open mode, where every statement waits for review."""

RDF_TYPE: Final = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
RDFS_LABEL: Final = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")


@dataclass(frozen=True)
class Evidence:
    """The words of a text that a statement rests on: `text[start:end] == quote`, in code points."""

    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class Problem:
    """What the pipeline found wrong with a candidate; `rule` is a term of the system vocabulary.

    `path` is the property concerned and `value` the offending value, if any. `focus` is the end of the
    statement that it is about, the subject where it is None.
    """

    rule: NamedNode
    message: str
    path: NamedNode | None = None
    value: NamedNode | Literal | None = None
    focus: NamedNode | None = None


@dataclass(frozen=True)
class Proposal:
    """A word that the ontology has no term for, with what its use in the text implies.

    `kind` is "class" or "property". Of a property, the classes of what it leads from and to, or the datatype
    of the value; of a class, those that its instance is known to be of.
    """

    kind: OneOf["class", "property"]
    words: str
    subject_classes: tuple[NamedNode, ...] = ()
    object_classes: tuple[NamedNode, ...] = ()
    datatype: NamedNode | None = None
    subject_name: str = ""
    object_name: str = ""


@dataclass(frozen=True)
class Candidate:
    """A statement proposed by a model or a client, not yet judged.

    `confidence` lies between 0 and 1, or is None when the model gave no probabilities. `reply` holds the
    model's own words for it; the label of a new entity has those of the first statement that named it.
    `inferred` names the ends ("subject", "object") that are not in the text: only a class that a new
    name itself says, or one that follows from a relation, may be accepted so. `proposal` is there
    where the ontology has no term for it. `warnings` do not refuse it, but a person should look.
    """

    subject: NamedNode
    predicate: NamedNode
    object: NamedNode | Literal
    evidence: Evidence | None = None
    confidence: float | None = None
    problems: tuple[Problem, ...] = ()
    reply: str | None = None
    inferred: tuple[str, ...] = ()
    proposal: Proposal | None = None
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Entity:
    """Something that the text names: known to the graph, or `new` with a minted IRI."""

    iri: NamedNode
    label: str
    classes: tuple[NamedNode, ...]
    new: bool
    mentions: tuple[Evidence, ...]


@dataclass(frozen=True)
class TurnTrace(Turn):
    """A turn about the code points `start` to `end` of the text; a window has one per question and try."""

    start: int
    end: int


@dataclass(frozen=True)
class Extraction:
    """Everything that one text yielded; `seconds` is the wall time of the whole extraction.

    `incomplete` says why it ended before the whole text was read, and where.
    """

    candidates: tuple[Candidate, ...]
    entities: tuple[Entity, ...]
    windows: tuple[TurnTrace, ...]
    model: str
    adapter: str | None
    prompt_version: str
    method: str
    seconds: float
    incomplete: Incomplete | None = None
