"""The ontology as prior knowledge: concept list, relations with domain and range, and what may be answered.

Nie et al., section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from extractors.prompting.methods import Method
from extractors.prompting.prompt import IS_A, IS_A_DEFINITION, definition_of, extraction_schema
from extractors.prompting.templates import Prompt, load_prompt
from extractors.settings import ProfileSettings
from ontology.schema import Schema

__all__ = ["KnownTerms", "Ontologist"]

_ALL: Final = 1_000_000
_SNIPPET: Final = 100
"""So many classes and relations are shown of an ontology that is too long to be shown whole."""


@dataclass(frozen=True)
class KnownTerms:
    """What the prompts say of the ontology for one text, and the JSON schema of the triples' reply.

    `relations` counts those that the words name, `of` those of an ontology too long to be shown whole.
    """

    words: str
    reply_schema: Mapping[str, Any]
    relations: int = 0
    of: int = 0

    @property
    def note(self) -> str:
        """For the trace: which part of the ontology a prompt shows; empty for the whole."""
        return f" ({self.relations} of {self.of} relations)" if self.relations < self.of else ""


class Ontologist:
    """Words the ontology as a method wants it: whole and the same for every text, or what fits a text.

    An ontology of more than `maximum_knowledge` characters of prompt is shown in part.
    """

    def __init__(self, method: Method, profile: ProfileSettings, prompts: Path | None) -> None:
        """Read the prompts; raises `PromptError`."""
        self._method = method
        self._profile = profile
        self._whole: tuple[Schema, KnownTerms] | None = None
        name = "no-knowledge" if method.ontology == "none" else "knowledge"
        self.prompt: Prompt = load_prompt(name, prompts)

    def terms(self, schema: Schema, text: str, most: int | None = None) -> KnownTerms:
        """The whole ontology, or at most `most` classes and relations that fit the text."""
        if self._method.ontology == "none":
            return KnownTerms(self.prompt.text({}), extraction_schema(None))
        if self._method.ontology == "snippet":
            limits = (self._profile.maximum_classes, self._profile.maximum_properties)
            return self._terms(
                schema, text, *(limit if most is None else min(limit, most) for limit in limits)
            )
        if self._whole is None or self._whole[0] is not schema:
            self._whole = (schema, self._terms(schema, "", _ALL, _ALL))
        whole = self._whole[1]
        if most is None and len(whole.words) <= self._profile.maximum_knowledge:
            return whole
        limit = _SNIPPET if most is None else most
        return replace(self._terms(schema, text, limit, limit), of=whole.relations)

    def _terms(self, schema: Schema, text: str, classes: int, properties: int) -> KnownTerms:
        snippet = schema.snippet(text, classes, properties)
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
