"""Asks a model which of five relations holds between two places (UrbanKGent, section 3.1).

The order is that of section 4.3: the model reasons first, then names the tools that it needs and refines its
reasoning by their results, which are right where the two contradict each other. The answer is asked for in a
turn of its own under a schema of two short fields, so that reasoning may be as long as it is and still ends
in one of the five relations.

In the product the relation between two places with geometry is always the computed one. The model's answer is
measured, shown beside the computed relation, and used for places without geometry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal

import shapely

from extractors.completion.pair import (
    Pair,
    Place,
    ToolCall,
    call_fitting_tools,
    call_tools,
    described,
    offered,
    results_of,
    tools_schema,
)
from extractors.errors import ModelError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.chat import ChatModel, Message, PromptProfile, Reply
from extractors.prompting.prompt import Prompt, load_prompt
from extractors.prompting.reply import is_faithful
from extractors.readers.reading import Turn
from geo.relate.rcc8 import RCC5

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


@dataclass(frozen=True)
class WorkedExample:
    """A pair and how one comes to its relation, in words; the relation itself is computed."""

    pair: Pair
    reasoning: str


@cache
def worked_examples() -> tuple[WorkedExample, ...]:
    """Three pairs of made-up places: inside, touching, apart."""
    source = (resources.files("extractors") / "completion" / "examples.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in source.splitlines() if line]
    return tuple(
        WorkedExample(Pair(_place(row["head"]), _place(row["tail"])), row["reasoning"]) for row in rows
    )


def _place(row: dict[str, Any]) -> Place:
    return Place(row["name"], row["type"], shapely.from_wkt(row["wkt"]))


MAXIMUM_ROUNDS: Final = 3
Shots = Literal[0, 1, 3]
_VERTICES: Final[Mapping[PromptProfile, int]] = {"compact": 12, "full": 40}
_REASONING_TOKENS: Final[Mapping[PromptProfile, int]] = {"compact": 160, "full": 600}
_ANSWER_TOKENS = 60
_TOOL_TOKENS = 120
_RETRY_TEMPERATURE = 0.3
_PROMPTS: Final = ("pair", "knowledge", "think", "tools", "results", "verify", "update", "answer")


@dataclass(frozen=True)
class CompletionSettings:
    """The parts of the dialog; each can be switched off to measure its effect (UrbanKGent, Table 4).

    `knowledge`: the five definitions. `thinking`: a turn of reasoning before the answer. `tools`: the tool
    turns. `rounds`: of verifier and updater, at most three. `shots`: worked examples before the question.
    `prompts` is a folder whose templates replace ours.
    """

    knowledge: bool = True
    thinking: bool = True
    tools: bool = True
    rounds: int = MAXIMUM_ROUNDS
    shots: Shots = 0
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.rounds <= MAXIMUM_ROUNDS:
            raise ValueError(f"{self.rounds} rounds: take 0 to {MAXIMUM_ROUNDS}")


def refusal_of(settings: CompletionSettings, profile: PromptProfile) -> str | None:
    """Why models of this kind are known not to follow a dialog with such parts; None where they may."""
    if profile == "full" or not (settings.tools or settings.rounds):
        return None
    return (
        "Tools, a verifier and an updater need a model that follows a dialog of many turns. A small model "
        "that was trained to fill in forms says the same of nearly every pair, whatever the tools find: set "
        "model_url to a larger model. In the graph relations are computed from the geometries in any case."
    )


@dataclass(frozen=True)
class Completion:
    """What the model said of a pair, and how it came to it; never the computed relation.

    `relation` is of head to tail; None without a usable answer, and `error` says why. `faithful` says
    whether the verifier's last word was the faithful verdict; `rounds` counts its words.
    """

    relation: RCC5 | None
    reasoning: str
    tools: tuple[ToolCall, ...]
    rounds: int
    faithful: bool
    turns: tuple[Turn, ...]
    error: str | None = None


class Completer:
    """Asks one model about pairs; stateless between pairs."""

    def __init__(self, model: ChatModel, settings: CompletionSettings | None = None) -> None:
        self.model = model
        self.settings = settings or CompletionSettings()
        self._prompts = {name: load_prompt(f"complete-{name}", self.settings.prompts) for name in _PROMPTS}
        self._tokens = _REASONING_TOKENS[model.prompt_profile]

    @property
    def prompt_version(self) -> str:
        """The names and versions of the prompts that are used."""
        return "+".join(self._prompts[name].version for name in self._used())

    def _used(self) -> Sequence[str]:
        wanted = {
            "pair": True,
            "knowledge": self.settings.knowledge,
            "think": self.settings.thinking,
            "tools": self.settings.tools,
            "results": self.settings.tools,
            "verify": self.settings.rounds > 0,
            "update": self.settings.rounds > 0,
            "answer": True,
        }
        return [name for name in _PROMPTS if wanted[name]]

    async def complete(self, pair: Pair) -> Completion:
        """Ask about a pair; an unusable reply is an `error` in the result.

        Raises `ModelUnavailable` and `ModelTimeout`.
        """
        return await _Dialog(self, pair).run()

    @property
    def refusal(self) -> str | None:
        """Why the model is known not to follow this dialog; None where it may."""
        return refusal_of(self.settings, self.model.prompt_profile)

    def by_tools(self, pair: Pair) -> Completion:
        """What the fitting tools say of a pair; the model is not asked, and `error` says why."""
        return Completion(None, "", call_fitting_tools(pair), 0, False, (), self.refusal)

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Ask the model; free words that were cut off are taken as they are."""
        try:
            return await self.model.complete(
                messages, schema=schema, max_tokens=max_tokens, temperature=temperature
            )
        except ModelReplyError as error:
            if schema is not None or not error.reply.strip():
                raise
            return Reply(error.reply, "length", 0, 0, 0.0, self.model.name, None)

    def prompt(self, name: str) -> Prompt:
        """One of the templates."""
        return self._prompts[name]

    @property
    def reasoning_tokens(self) -> int:
        """How long reasoning may be."""
        return self._tokens


@dataclass
class _Dialog:
    """The dialog about one pair, as it grows."""

    completer: Completer
    pair: Pair
    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    tools: tuple[ToolCall, ...] = ()
    question: str = ""
    reasoning: str = ""
    rounds: int = 0
    faithful: bool = False

    async def run(self) -> Completion:
        settings = self.completer.settings
        try:
            self._open()
            if settings.thinking:
                await self._reason("think", {"think": "Let's think step by step."})
            if settings.tools:
                await self._use_tools()
            if settings.rounds and self.reasoning:
                await self._refine(settings.rounds)
            return self._finished(await self._answer())
        except (ModelUnavailable, ModelTimeout):
            raise
        except ModelError as error:
            return self._finished(None, str(error))

    def _finished(self, relation: RCC5 | None, error: str | None = None) -> Completion:
        return Completion(
            relation, self.reasoning, self.tools, self.rounds, self.faithful, tuple(self.turns), error
        )

    def _open(self) -> None:
        settings = self.completer.settings
        opening = self.completer.prompt("pair").messages(self._values(self.pair))
        self.messages = list(opening[:-1])
        if settings.knowledge:
            self.messages = _joined([*self.messages, *self.completer.prompt("knowledge").messages({})])
        for example in worked_examples()[: settings.shots]:
            shown = self.completer.prompt("pair").messages(self._values(example.pair))[-1]
            relation = example.pair.computed
            assert relation is not None
            said = [example.reasoning] if settings.thinking else []
            self.messages += [shown, Message("assistant", "\n".join([*said, answer_text(relation)]))]
        self.question = opening[-1].content
        self.messages.append(opening[-1])

    def _values(self, pair: Pair) -> dict[str, str]:
        vertices = _VERTICES[self.completer.model.prompt_profile]
        return {"a": described(pair.head, vertices), "b": described(pair.tail, vertices)}

    async def _use_tools(self) -> None:
        """Ask which tools are needed, call them, and let the model refine its reasoning by the results."""
        self._say("tools", {"tools": offered()})
        reply = await self._turn("tools", schema=tools_schema(), max_tokens=_TOOL_TOKENS)
        self.tools = call_tools(_tool_names(reply), self.pair) or call_fitting_tools(self.pair)
        await self._reason("results", {"results": results_of(self.tools)})

    async def _reason(self, prompt: str, values: Mapping[str, str]) -> None:
        self._say(prompt, values)
        reply = await self._turn(prompt, max_tokens=self.completer.reasoning_tokens)
        self.reasoning = reply.text.strip() or self.reasoning

    async def _refine(self, rounds: int) -> None:
        """Verifier and updater by turns; the last reasoning is kept."""
        for _ in range(rounds):
            asked = self.completer.prompt("verify").messages(
                {
                    "question": self.question,
                    "results": results_of(self.tools),
                    "reasoning": self.reasoning,
                    "claim": claim_of(self.reasoning),
                }
            )
            verdict = await self._ask("verify", asked, max_tokens=self.completer.reasoning_tokens)
            self.rounds += 1
            self.faithful = is_faithful(verdict.text)
            if self.faithful:
                return
            await self._reason("update", {"suggestion": verdict.text.strip()})

    async def _answer(self) -> RCC5:
        self._say("answer", {})
        return read_answer(await self._turn("answer", schema=ANSWER_SCHEMA, max_tokens=_ANSWER_TOKENS))

    def _say(self, prompt: str, values: Mapping[str, str]) -> None:
        self.messages = _joined([*self.messages, *self.completer.prompt(prompt).messages(values)])

    async def _turn(self, stage: str, *, schema: Mapping[str, Any] | None = None, max_tokens: int) -> Reply:
        """Ask with the whole dialog, and add what was answered to it."""
        reply = await self._ask(stage, tuple(self.messages), schema=schema, max_tokens=max_tokens)
        self.messages.append(Message("assistant", reply.text.strip()))
        return reply

    async def _ask(
        self,
        stage: str,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int,
    ) -> Reply:
        """One question, once more at some temperature where the reply is broken."""
        version = self.completer.prompt(stage).version
        for temperature in (0.0, _RETRY_TEMPERATURE):
            try:
                reply = await self.completer.ask(
                    messages, schema=schema, max_tokens=max_tokens, temperature=temperature
                )
            except ModelReplyError as error:
                self.turns.append(Turn(stage, version, tuple(messages), None, str(error)))
                failure: ModelError = error
                continue
            self.turns.append(Turn(stage, version, tuple(messages), reply, None))
            return reply
        raise failure


def _tool_names(reply: Reply) -> list[str]:
    try:
        names = json.loads(reply.text)["tools"]
        return [name for name in names if isinstance(name, str)]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelReplyError(
            f"the model's reply names no tools ({error!r}): ask another model", reply.text
        ) from error


def _joined(messages: Sequence[Message]) -> list[Message]:
    """Messages of one role after each other made one: chat templates take turns."""
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            joined[-1] = Message(message.role, f"{joined[-1].content}\n\n{message.content}".strip())
        else:
            joined.append(message)
    return joined
