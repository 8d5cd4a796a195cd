"""The planner that asks a large model for a plan in the plan language, checked, repaired and voted.

The model is given the terms that the question may mean, as a schema that its reply has to follow, and
examples like the question; it never writes an identifier. Its plan is type checked, and has to use every word
of the question, like any other.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pyoxigraph import NamedNode

from extractors.errors import ModelReplyError
from extractors.models.chat import ChatModel, Message, Reply
from extractors.prompting.prompt import PromptError, load_prompt
from sparql.ask.errors import PlanError
from sparql.ask.grammar.items import Context
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import ClassName, EntityName, PropertyName
from sparql.ask.linking.words import key_of, tokens_of
from sparql.ask.plan.json_form import CLASS, NAME, RELATION, numbered, read_numbered, read_plan, steps_schema
from sparql.ask.plan.nodes import Plan
from sparql.ask.plan.terms import Term
from sparql.ask.planner import Candidate, Trace
from sparql.ask.use import unused_words

_EXAMPLES: Final = "ask-examples.jsonl"
_OFFERED: Final = 20
_SHOWN: Final = 4


def offered_terms(linked: LinkedQuestion, context: Context) -> dict[str, list[Term]]:
    """Return the names, classes and relations that words may mean, and terms of the ontology like them."""
    found: dict[str, dict[Term, None]] = {NAME: {}, CLASS: {}, RELATION: {}}
    for reading in sorted(linked.readings, key=lambda reading: reading.cost):
        match reading.meaning:
            case EntityName(term):
                found[NAME].setdefault(term)
            case ClassName(term):
                found[CLASS].setdefault(term)
            case PropertyName(term):
                found[RELATION].setdefault(term)
    snippet = context.typing.schema.snippet(linked.text, _OFFERED, _OFFERED)
    for kind in snippet.classes:
        found[CLASS].setdefault(Term(kind.iri, kind.label))
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
        self._words = [_words(example.question) for example in self._all]
        self._counts = Counter(word for words in self._words for word in words)

    def like(self, linked: LinkedQuestion, *, sparql: bool = False) -> list[Example]:
        """Return the examples most like a question in the words that name nothing; the best comes last."""
        named = {
            n
            for reading in linked.readings
            if isinstance(reading.meaning, EntityName | ClassName | PropertyName)
            for n in range(reading.start, reading.end)
        }
        words = set(key_of([t.text for n, t in enumerate(linked.tokens) if n not in named]))
        scored = [
            (sum(self._weight(word) for word in words & theirs) / math.sqrt(len(theirs) or 1), -n, example)
            for n, (example, theirs) in enumerate(zip(self._all, self._words, strict=True))
            if bool(example.sparql) is sparql
        ]
        best = sorted(scored, key=lambda pair: pair[:2], reverse=True)[:_SHOWN]
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


T = TypeVar("T")

_TOKENS: Final = 1000
_WARMTH: Final = 0.7


@dataclass(frozen=True)
class AskedModel:
    """A language model, and how many plans of a question it writes at most, of which the answers vote.

    `queries`: it may write SPARQL where it makes no plan. `run` runs its calls, on another loop where its
    connections belong to one.
    """

    model: ChatModel
    samples: int = 1
    queries: bool = False
    run: Callable[[Coroutine[Any, Any, Reply]], Awaitable[Reply]] = lambda call: call


@dataclass(frozen=True)
class Request:
    """What the model is asked: a dialog, the schema of its reply, and what the reply is called."""

    messages: Sequence[Message]
    schema: Mapping[str, Any]
    what: str
    repairs: int = 2


@dataclass(frozen=True)
class Checked(Generic[T]):
    """What a reply holds, and the answer set that it finds."""

    value: T
    found: Hashable


Check = Callable[[str], Awaitable[Checked[T]]]
"""Reads a reply and runs it. Raises `PlanError` with what to correct."""


async def vote(asked: AskedModel, request: Request, check: Check[T], trace: Trace) -> list[tuple[T, float]]:
    """Return one value for each answer set that replies found, with its share, the largest first.

    The first reply is the most likely one, the others are sampled. At most so many replies in all are
    repaired, with the message of the check. It ends as soon as more than half of the samples agree.
    """
    found: list[Checked[T]] = []
    repairs = request.repairs
    for sample in range(asked.samples):
        messages = list(request.messages)
        while True:
            warmth = _WARMTH if sample else 0.0
            try:
                call = asked.model.complete(
                    messages, schema=request.schema, max_tokens=_TOKENS, temperature=warmth
                )
                reply = await asked.run(call)
            except ModelReplyError as error:
                trace.note(f"Reply {sample + 1} cannot be read.", request.what, str(error))
                break
            try:
                found.append(await check(reply.text))
            except PlanError as error:
                trace.note(
                    f"Reply {sample + 1}: a {request.what} is checked before it is used.",
                    request.what,
                    f"{reply.text} {error}",
                )
                if not repairs:
                    break
                repairs -= 1
                correction = f"{error} Write the whole {request.what} again, corrected, and nothing else."
                messages += [Message("assistant", reply.text), Message("user", correction)]
                continue
            trace.note(
                f"Reply {sample + 1}: the {request.what} fits the ontology and uses every word.",
                request.what,
                reply.text,
            )
            break
        votes = _votes(found)
        if votes and votes[0][1] * 2 > asked.samples:
            break
    return [(value, count / len(found)) for value, count in _votes(found)]


def _votes(found: Sequence[Checked[T]]) -> list[tuple[T, int]]:
    """Return the first value of each answer set with its votes, the most votes first."""
    groups: dict[Hashable, list[T]] = {}
    for checked in found:
        groups.setdefault(checked.found, []).append(checked.value)
    return sorted(((values[0], len(values)) for values in groups.values()), key=lambda pair: -pair[1])


class ModelPlanner:
    """Plans with a language model (a `Planner`).

    `find` runs a plan and returns what identifies its answer. `prompts` is a folder whose prompt files
    replace the built-in ones, and whose `ask-examples.jsonl` adds examples.
    """

    def __init__(
        self,
        model: AskedModel,
        find: Callable[[Plan, Context], Awaitable[Hashable]],
        prompts: Path | None = None,
    ) -> None:
        self._model = model
        self._find = find
        self._prompt = load_prompt("ask-full", prompts)
        self._examples = Examples(prompts)

    async def plan(self, linked: LinkedQuestion, context: Context, trace: Trace) -> Sequence[Candidate]:
        """Return the model's plans, the one with most votes first.

        Raises `ModelError` when no model answers.
        """
        offered = {kind: dict(_named(terms)) for kind, terms in offered_terms(linked, context).items()}
        by_words = {words: term for terms in offered.values() for words, term in terms.items()}
        shown = [f"Question: {example.question}\n{example.reply}" for example in self._examples.like(linked)]
        values = {
            "question": " ".join(linked.text.split()),
            "examples": "\n\n".join(shown),
            **{f"{name}_list": listed(list(terms)) for name, terms in offered.items()},
        }
        schema = steps_schema({kind: list(terms) for kind, terms in offered.items()})

        async def check(text: str) -> Checked[Plan]:
            plan = read_numbered(read_object(text), by_words.get)
            plan.check(context.typing)
            unused = unused_words(plan, linked)
            if unused:
                raise PlanError(f"The plan does not use: {', '.join(token.raw for token in unused)}.")
            return Checked(plan, await self._find(plan, context))

        request = Request(self._prompt.messages(values), schema, "plan")
        voted = await vote(self._model, request, check, trace)
        return [Candidate(plan, 1 - share) for plan, share in voted]


def read_object(text: str) -> Mapping[str, Any]:
    """Read a reply as a JSON object. Raises `PlanError`."""
    try:
        message = json.loads(text)
    except json.JSONDecodeError as error:
        raise PlanError(f"The reply is not JSON ({error.msg} at character {error.pos}).") from error
    if not isinstance(message, Mapping):
        raise PlanError("The reply is not a JSON object.")
    return message


def _named(terms: Sequence[Term]) -> list[tuple[str, Term]]:
    """Return terms with their words, of which no two are the same."""
    found: dict[str, Term] = {}
    for term in terms:
        words, number = term.words, 1
        while words in found:
            number += 1
            words = f"{term.words} ({number})"
        found[words] = term
    return list(found.items())
