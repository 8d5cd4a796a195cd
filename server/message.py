"""What a JSON message from a client is: a model that knows all members it may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from sparql.model.answer_warnings import unknown_name

_UNKNOWN = "extra_forbidden"
"""What pydantic calls a member that the model does not have."""

LONGEST_IRI: Final = 2000
Name = Annotated[str, Field(max_length=200)]
"""The name of a person, a term, an item; a language tag."""
Words = Annotated[str, Field(max_length=1000)]
"""A question, a title, what is searched for."""
IriText = Annotated[str, Field(max_length=LONGEST_IRI)]
"""An IRI, or the source of a text."""
IRI_FORM: Final[JsonDict] = {"format": "iri"}
"""What the description says of a text that must be an absolute IRI; what reads it refuses any other."""
AbsoluteIri = Annotated[str, Field(max_length=LONGEST_IRI, json_schema_extra=IRI_FORM)]
Prose = Annotated[str, Field(max_length=10_000)]
"""Reasons, comments, quotations."""


class Message(BaseModel):
    """A message, or a part of one. A member that it does not have is refused: it may be a misspelling."""

    model_config = ConfigDict(extra="forbid")


def member_problems(
    errors: Sequence[Any], model: type[BaseModel], whole: str = "body"
) -> list[tuple[str, str]]:
    """The place and the message of each error of pydantic; unknown members with the nearest known one."""
    found = []
    schema: dict[str, Any] | None = None
    for error in errors:
        place = error["loc"]
        message = error["msg"]
        if error["type"] == _UNKNOWN:
            schema = schema or model.model_json_schema()
            message = unknown_name("member", str(place[-1]), _members(schema, place[:-1]))
        found.append((".".join(map(str, place)) or whole, message))
    return found


def ended(sentence: str) -> str:
    """A sentence with its full stop, where it does not end already, such as with a question mark."""
    return sentence if sentence.endswith((".", "?", "!")) else sentence + "."


def _members(schema: dict[str, Any], place: Sequence[int | str]) -> list[str]:
    """The members that may be at a place of a message, by its JSON Schema."""
    here = [schema]
    for part in place:
        below = [one for form in here for one in _forms(schema, form)]
        if isinstance(part, int):
            here = [one["items"] for one in below if "items" in one]
        else:
            here = [one["properties"][part] for one in below if part in one.get("properties", {})]
    return [name for form in here for one in _forms(schema, form) for name in one.get("properties", {})]


def _forms(schema: dict[str, Any], form: dict[str, Any]) -> list[dict[str, Any]]:
    """A schema's alternatives, with references followed."""
    if "$ref" in form:
        return _forms(schema, schema["$defs"][form["$ref"].rpartition("/")[2]])
    if "anyOf" in form:
        return [one for alternative in form["anyOf"] for one in _forms(schema, alternative)]
    return [form]
