"""The ontology as prior knowledge: concept list, relations with domain and range, and what may be answered.

Nie et al., section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from extractors.prompting.methods import Method
from extractors.prompting.prompt import IS_A, IS_A_DEFINITION, definition_of, extraction_schema
from extractors.prompting.templates import Prompt, load_prompt
from extractors.settings import ProfileSettings
from ontology.schema import Schema

__all__ = ["KnownTerms", "Ontologist"]

_ALL: Final = 1_000_000


@dataclass(frozen=True)
class KnownTerms:
    """What the prompts say of the ontology for one text, and the JSON schema of the triples' reply.

    `relations` counts those that the words name.
    """

    words: str
    reply_schema: Mapping[str, Any]
    relations: int = 0


class Ontologist:
    """Words the ontology for a text as a method wants it."""

    def __init__(self, method: Method, profile: ProfileSettings, prompts: Path | None) -> None:
        """Read the prompts; raises `PromptError`."""
        self._method = method
        self._limits = (
            (_ALL, _ALL)
            if method.ontology == "whole"
            else (profile.maximum_classes, profile.maximum_properties)
        )
        name = "no-knowledge" if method.ontology == "none" else "knowledge"
        self.prompt: Prompt = load_prompt(name, prompts)

    def terms(self, schema: Schema, text: str, most: int | None = None) -> KnownTerms:
        """The part of the ontology that fits the text, or the whole; of each kind at most so many terms."""
        if self._method.ontology == "none":
            return KnownTerms(self.prompt.text({}), extraction_schema(None))
        limits = [limit if most is None else min(limit, most) for limit in self._limits]
        # The whole is in the same order for every text, so servers find its words computed already.
        is_whole = self._method.ontology == "whole" and most is None
        snippet = schema.snippet("" if is_whole else text, *limits)
        terms = [term for term in snippet.properties if term.label and term.label != IS_A]
        kinds = [IS_A] if self._method.kinds else []
        lines = [IS_A_DEFINITION] if kinds else []
        words = self.worded(
            [one.label for one in snippet.classes], [*lines, *(definition_of(schema, t) for t in terms)]
        )
        # A schema that allows no relation at all would be none.
        offered = list(dict.fromkeys([*kinds, *(term.label for term in terms)]))
        allowed = offered if self._method.closed and offered else None
        return KnownTerms(words, extraction_schema(allowed), len(terms))

    def worded(self, classes: list[str], definitions: list[str]) -> str:
        """The words for these terms; those of an example are its own."""
        if self._method.ontology == "none":
            return self.prompt.text({})
        return self.prompt.text(
            {"classes": "; ".join(classes) or "any", "definitions": "\n".join(definitions) or "none"}
        )
