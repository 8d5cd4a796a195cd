"""The ontology as prior knowledge: concept list, relations with domain and range, and what may be answered.

Nie et al., section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from extractors.prompting.methods import Method, View
from extractors.prompting.prompt import IS_A, IS_A_DEFINITION, definition_of
from extractors.prompting.templates import Prompt, load_prompt
from extractors.settings import ProfileSettings
from ontology.schema import Schema
from ontology.terms import OntologyProperty

__all__ = ["KnownTerms", "Ontologist"]

_ALL: Final = 1_000_000
_SNIPPET: Final = 100
"""So many classes and relations are shown of an ontology that is too long to be shown whole."""


@dataclass(frozen=True)
class KnownTerms:
    """What the prompts say of the ontology for one text, and the terms that a reply may use.

    `classes` and `relations` are those that the words name, `of` counts the relations of an ontology that is
    too long to be shown whole. `kinds`: "is a" is among the relations. Without `closed` a reply may use words
    of its own.
    """

    words: str
    classes: tuple[str, ...] = ()
    relations: tuple[OntologyProperty, ...] = ()
    of: int = 0
    kinds: bool = True
    closed: bool = False

    @property
    def note(self) -> str:
        """For the trace: which part of the ontology a prompt shows; empty for the whole."""
        count = len(self.relations)
        return f" ({count} of {self.of} relations)" if count < self.of else ""

    def allowed(self, view: View | None = None) -> list[str] | None:
        """The relations that a reply may use, in a view those that belong to it; None for any words.

        A relation without a view belongs to all. What kind of thing something is belongs to the functional.
        """
        if not self.closed:
            return None
        kinds = [IS_A] if self.kinds and view in (None, "functional") else []
        terms = (term for term in self.relations if view is None or not term.views or view in term.views)
        return list(dict.fromkeys([*kinds, *(term.label for term in terms)]))


class Ontologist:
    """Words the ontology as a method wants it: whole and the same for every text, or what fits a text.

    An ontology of more than `maximum_knowledge` characters of prompt is shown in part.
    """

    def __init__(self, method: Method, profile: ProfileSettings, prompts: Path | None) -> None:
        """Read the prompts; raises `PromptError`."""
        self._method = method
        self._profile = profile
        self._whole: tuple[Schema, KnownTerms] | None = None
        known = "block-knowledge" if method.format == "context" else "knowledge"
        name = "no-knowledge" if method.ontology == "none" else known
        self.prompt: Prompt = load_prompt(name, prompts)

    def terms(self, schema: Schema, text: str, most: int | None = None) -> KnownTerms:
        """The whole ontology, or at most `most` classes and relations that fit the text."""
        if self._method.ontology == "none":
            return KnownTerms(self.prompt.text({}), kinds=self._method.kinds)
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
        return replace(self._terms(schema, text, limit, limit), of=len(whole.relations))

    def _terms(self, schema: Schema, text: str, classes: int, properties: int) -> KnownTerms:
        snippet = schema.snippet(text, classes, properties)
        terms = [term for term in snippet.properties if term.label and term.label != IS_A]
        lines = [IS_A_DEFINITION] if self._method.kinds else []
        lines += [definition_of(schema, term) for term in terms]
        names = [one.label for one in snippet.classes]
        return KnownTerms(
            self.worded(names, lines),
            tuple(names),
            tuple(terms),
            kinds=self._method.kinds,
            # A schema that allows no relation at all would allow no reply.
            closed=self._method.closed and bool(lines),
        )

    def worded(self, classes: list[str], definitions: list[str]) -> str:
        """The words for these terms; those of an example are its own."""
        if self._method.ontology == "none":
            return self.prompt.text({})
        return self.prompt.text(
            {"classes": "; ".join(classes) or "any", "definitions": "\n".join(definitions) or "none"}
        )
