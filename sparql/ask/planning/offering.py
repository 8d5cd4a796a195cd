"""What a model is offered for a question: the terms that its words may mean, and examples like it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pyoxigraph import NamedNode

from extractors.prompting.templates import PromptError
from sparql.ask.errors import PlanError
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import ClassName, EntityName, PropertyName
from sparql.ask.linking.words import key_of, tokens_of
from sparql.ask.plan.json_form import CLASS, NAME, RELATION, numbered, read_plan
from sparql.ask.plan.terms import Term
from sparql.ask.planning.rules import Context

__all__ = ["Example", "Examples", "listed", "offered_terms"]


_EXAMPLES: Final = "ask-examples.jsonl"
_OFFERED: Final = 20
_SHOWN: Final = 4


def offered_terms(linked: LinkedQuestion, context: Context) -> dict[str, list[Term]]:
    """Return the names, classes and relations that words may mean, and terms of the ontology like them."""
    found: dict[str, dict[Term, None]] = {NAME: {}, CLASS: {}, RELATION: {}}
    for reading in sorted(linked.readings, key=lambda one: one.cost):
        match reading.meaning:
            case EntityName(term):
                found[NAME].setdefault(term)
            case ClassName(term):
                found[CLASS].setdefault(term)
            case PropertyName(term):
                found[RELATION].setdefault(term)
    snippet = context.typing.schema.snippet(linked.text, _OFFERED, _OFFERED)
    for one in snippet.classes:
        found[CLASS].setdefault(Term(one.iri, one.label))
    for known in snippet.properties:
        found[RELATION].setdefault(Term(known.iri, known.label))
    return {name: [t for t in terms if t.words][: 2 * _OFFERED] for name, terms in found.items()}


@dataclass(frozen=True)
class Example:
    """A question with the tree of its plan, or with its query."""

    question: str
    plan: Any = None
    sparql: str = ""

    @property
    def reply(self) -> str:
        """What a model is to write for it."""
        reply = {"sparql": self.sparql} if self.sparql else {"steps": numbered(self.plan)}
        return json.dumps(reply, ensure_ascii=False)


class Examples:
    """Examples of questions, ours and those of a user's file, to be shown beside questions like them."""

    def __init__(self, prompts: Path | None = None) -> None:
        ours = resources.files("extractors") / "prompts" / _EXAMPLES
        self._all = _read(ours.read_text(encoding="utf-8"), _EXAMPLES)
        own = prompts / _EXAMPLES if prompts is not None else None
        if own is not None and own.is_file():
            self._all += _read(own.read_text(encoding="utf-8"), str(own))
        self._words = [_words(one.question) for one in self._all]
        self._counts = Counter(word for words in self._words for word in words)

    def like(self, linked: LinkedQuestion, *, sparql: bool = False) -> list[Example]:
        """Return the examples most like a question in the words that name nothing; the best comes last."""
        named = {
            n
            for one in linked.readings
            if isinstance(one.meaning, EntityName | ClassName | PropertyName)
            for n in range(one.start, one.end)
        }
        words = set(key_of([t.text for n, t in enumerate(linked.tokens) if n not in named]))
        scored = [
            (sum(self._weight(word) for word in words & theirs) / math.sqrt(len(theirs) or 1), -n, example)
            for n, (example, theirs) in enumerate(zip(self._all, self._words, strict=True))
            if bool(example.sparql) is sparql
        ]
        best = sorted(scored, key=lambda one: one[:2], reverse=True)[:_SHOWN]
        return [example for _, _, example in reversed(best)]

    def _weight(self, word: str) -> float:
        return math.log(1 + len(self._all) / (1 + self._counts[word]))


def _words(question: str) -> frozenset[str]:
    return frozenset(key_of([token.text for token in tokens_of(question)]))


def _read(text: str, place: str) -> list[Example]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(_example(json.loads(line)))
        except (ValueError, PlanError) as error:
            raise PromptError(
                f"{place}, line {number} is no example ({error}). It is an object with `question`, and "
                "`plan`, the tree of a plan as replies have it, or `sparql`."
            ) from error
    return found


def _example(line: Any) -> Example:
    if not isinstance(line, Mapping) or line.keys() not in ({"question", "plan"}, {"question", "sparql"}):
        raise ValueError("other members")
    example = Example(**line)
    if not isinstance(example.question, str) or not isinstance(example.sparql, str):
        raise ValueError("question and sparql are texts")
    if not example.sparql:
        read_plan(example.plan, lambda words: Term(NamedNode("urn:example"), words))
    return example


def listed(lines: Sequence[str]) -> str:
    """Return lines as a list of a prompt."""
    return "\n".join(f"- {line}" for line in lines) or "(none)"
