"""The errors of shapes files, and of review, proposals, documents and merges.

ShapesError ├── ShapesFileUnreadable ├── ShapeMalformed ├── ReviewItemUnknown ├── ReviewItemDecided a decision
on an item that is not open for it ├── DecisionUnknown ├── DecisionSettled an undo of a decision whose items
were all decided again, or are gone ├── ReasonNeeded a rejection or an exception without a reason ├──
ProposalUnknown ├── ProposalDecided a decision on a proposal that is not open for it ├── TermNotDeclared a
proposal accepted as a term that the ontology does not have ├── DocumentUnknown ├── DocumentRemoved a document
that was withdrawn ├── EntityUnknown ├── MergeRefused two entities that cannot be one ├── MergeUnknown └──
MergeSettled a merge that was split already, or that another was built on
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

UNEXPECTED: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, RuntimeError),
    *(TypeError, ValueError, re.error),
)
"""What rdflib and pySHACL raise for shapes and values that they do not expect."""


def in_words(error: Exception) -> str:
    """What an unexpected error says, for the reason why a shape cannot be used."""
    if isinstance(error, RecursionError):
        return "it refers to itself, or nests too deep"
    return str(error).strip() or type(error).__name__


class ShapesError(Exception):
    """Base of these errors; the message names the file and the fix."""


class ShapesFileUnreadable(ShapesError):
    """A shapes file does not parse."""

    def __init__(self, path: Path, line: int | None, reason: str) -> None:
        self.path, self.line, self.reason = path, line, reason
        self.also: tuple[ShapesFileUnreadable, ...] = ()
        where = f"{path}, line {line}" if line else f"{path}"
        reason = reason.rstrip(".")
        super().__init__(f"{where}: {reason}. Fix the Turtle there; until then the file is not used.")

    def with_others(self, others: Sequence["ShapesFileUnreadable"]) -> "ShapesFileUnreadable":
        """The same error, whose message also names these, found in the same reading."""
        self.also = tuple(others)
        self.args = ("\n".join([str(self), *map(str, others)]),)
        return self


class ShapeMalformed(ShapesError):
    """A shape that no SHACL engine can run."""

    def __init__(self, shape: str, reason: str, *, path: Path | None = None, line: int | None = None) -> None:
        self.shape, self.reason, self.path, self.line = shape, reason, path, line
        where = "" if path is None else f"{path}, line {line}: " if line else f"{path}: "
        super().__init__(f"{where}Shape {shape}: {reason}. Fix it in the shapes folder.")


class ReviewItemUnknown(ShapesError):
    """A review item that does not exist."""

    def __init__(self, item: str) -> None:
        super().__init__(f"There is no review item {item}. List them with GET /review.")


class ReviewItemDecided(ShapesError):
    """A decision that the item's state does not allow."""

    def __init__(self, item: str, state: str, wanted: str) -> None:
        self.state = state
        if wanted == "reopen":
            advice = "only what was accepted or rejected can be reopened"
        else:
            advice = "reopen it first"
        super().__init__(f"Review item {item} is {state}: {advice}.")


class DecisionUnknown(ShapesError):
    """A decision on review items that was never made."""

    def __init__(self, decision: str) -> None:
        super().__init__(f"There is no decision {decision}. List them with GET /review/decisions.")


class DecisionSettled(ShapesError):
    """A decision that is no longer the last one on any of its items."""

    def __init__(self, decision: str) -> None:
        super().__init__(
            f"Decision {decision} is not the last one on any of its items: they were decided again, or are "
            "gone with their document. Undo the later decision first."
        )


class ProposalUnknown(ShapesError):
    """A proposal that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no proposal {name}. List them with GET /proposals.")


class ProposalDecided(ShapesError):
    """A decision that the proposal's status does not allow."""

    def __init__(self, name: str, status: str, wanted: str) -> None:
        self.status = status
        advice = {
            "reopen": "only what was accepted or dismissed can be reopened",
            "retry": "only the statements of an accepted proposal can be tried again",
        }.get(wanted, "reopen it first")
        super().__init__(f"Proposal {name} is {status}: {advice}.")


class TermNotDeclared(ShapesError):
    """A proposal accepted as a term (as written in Turtle) that the ontology does not have as this kind."""

    def __init__(self, iri: str, kind: str) -> None:
        super().__init__(
            f"The ontology declares no {kind} {iri}. Add it to a file of the ontology first (GET "
            "/proposals/export gives a fragment), or give the IRI of one that it has."
        )


class ReasonNeeded(ShapesError):
    """A decision without a reason, which the next person would need."""

    def __init__(self, decision: str = "A rejection") -> None:
        super().__init__(f"{decision} needs a reason that is not blank.")


class DocumentUnknown(ShapesError):
    """A document that was never posted."""

    def __init__(self, document: str) -> None:
        super().__init__(f"There is no document {document}. List them with GET /documents.")


class DocumentRemoved(ShapesError):
    """A document that was posted and withdrawn; `removed_at` is an xsd:dateTime."""

    def __init__(self, document: str, removed_at: str, by: str, reason: str | None) -> None:
        self.removed_at, self.by, self.reason = removed_at, by, reason
        super().__init__(
            f"Document {document} was removed by {by} at {removed_at}. Post its text again to have it back."
        )


class EntityUnknown(ShapesError):
    """An IRI that the graph does not describe, as written in Turtle."""

    def __init__(self, iri: str) -> None:
        super().__init__(f"The graph has no statements about {iri}. Look the entity up by its label first.")


class MergeRefused(ShapesError):
    """Two entities that cannot be one, as written in Turtle."""

    def __init__(self, keep: str, other: str, reason: str) -> None:
        super().__init__(
            f"{keep} and {other} are not merged: {reason}. Correct the graph first if that is wrong."
        )


class MergeUnknown(ShapesError):
    """A merge that does not exist."""

    def __init__(self, merge: str) -> None:
        super().__init__(f"There is no merge {merge}. List them with GET /entities/merges.")


class MergeSettled(ShapesError):
    """A merge that cannot be split now."""

    def __init__(self, merge: str, reason: str) -> None:
        super().__init__(f"Merge {merge} cannot be split: {reason}.")
