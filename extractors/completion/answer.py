"""The relation that a model answers with: one of five, and for IN which place lies in which."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply
from geo.relate.rcc8 import RCC5

__all__ = ["ANSWER_SCHEMA", "answer_text", "claim_of", "read_answer"]

_FIVE: Final = ("DC", "EC", "PO", "EQ", "IN")
_INNER: Final = ("A", "B", "none")

ANSWER_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "relation": {"type": "string", "enum": list(_FIVE)},
        "inner": {"type": "string", "enum": list(_INNER)},
    },
    "required": ["relation", "inner"],
}

_CLAIM = re.compile(r"relation\W+(DC|EC|PO|EQ|IN)\b(?:\W+inner\W+(A|B|none)\b)?", re.IGNORECASE)


def claim_of(reasoning: str) -> str:
    """The relation that reasoning ends with, for the verifier to see apart from it."""
    claims = _CLAIM.findall(reasoning)
    if not claims:
        return "no relation is named"
    relation, inner = claims[-1]
    return f"{relation.upper()}, inner {inner or 'none'}"


def read_answer(reply: Reply) -> RCC5:
    """The relation of A to B in a reply. Raises `ModelReplyError` for a reply that names none.

    IN without a word on which lies in which is taken as it is said: A IN B.
    """
    try:
        value = json.loads(reply.text)
        relation = RCC5(value["relation"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelReplyError(
            f"the model's reply names no relation ({error!r}): use a model that follows JSON schemas",
            reply.text,
        ) from error
    return RCC5.INi if relation is RCC5.IN and value.get("inner") == "B" else relation


def answer_text(relation: RCC5) -> str:
    """A relation in the form of an answer, for the examples of a prompt."""
    inner = {RCC5.IN: "A", RCC5.INi: "B"}.get(relation, "none")
    plain = RCC5.IN if relation is RCC5.INi else relation
    return json.dumps({"relation": plain.value, "inner": inner})
