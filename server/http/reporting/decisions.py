"""Decisions of people as JSON: on review items, and the merging of entities."""

from typing import Any

from pydantic import Field, model_validator

from curation.merging.merging import Merge, Merged
from server.http.reporting.statements import StatementJson, rejection_json, statement_json
from server.message import IriText, Message


class DecisionRequest(Message):
    """Why, and who decides where the request's key does not say."""

    reason: str | None = Field(None, max_length=10_000, description="Why, for who reads it later.")
    by: str | None = Field(None, min_length=1, max_length=200, description="The person's name.")
    dry_run: bool = Field(False, description="Say what would happen, and change nothing.")


class AcceptRequest(DecisionRequest):
    """`statements`, if given, replace the item's own: the corrected statement, or several in its place."""

    statements: list[StatementJson] | None = Field(None, min_length=1, max_length=50)


class ItemAcceptRequest(AcceptRequest):
    """`entities` says which entities the text means, where the item asks that."""

    entities: dict[IriText, IriText | None] | None = Field(
        None,
        max_length=2,
        description="For the `entity` of each of the item's `choices` the IRI that is meant, or null for a "
        "new one. All statements of the text that ask only this are accepted with the answer.",
    )

    @model_validator(mode="after")
    def _either(self) -> "ItemAcceptRequest":
        if self.entities is not None and self.statements is not None:
            raise ValueError("give either entities or statements")
        return self


def merge_json(merge: Merge) -> dict[str, Any]:
    """A merge as it is recorded."""
    return {
        "id": merge.identifier,
        "iri": merge.iri.value,
        "kept": merge.kept.value,
        "merged": merge.merged.value,
        "at": merge.at,
        "by": merge.by,
        "reason": merge.reason,
        "split": merge.split,
    }


def merged_json(merged: Merged) -> dict[str, Any]:
    """The answer to a merge or a split that was done."""
    return {
        "merge": None if merged.merge is None else merged.merge.value.rpartition("/")[2],
        "statements": merged.statements,
        "dropped": [statement_json(triple) for triple in merged.dropped],
        "rejected": [rejection_json(rejection, None) for rejection in merged.rejected],
        "revision": merged.revision,
    }
