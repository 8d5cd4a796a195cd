"""The CogMG experiment (section 3.3): the model alone, the knowledge deleted, the knowledge updated.

Facts of the sample city are deleted from the graph. Each question is asked of the model alone, of the graph
without the facts, and again after its gap was verified by passages and accepted.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pyoxigraph import NamedNode

from curation.review.review_item import Reviewer
from extractors.errors import ModelError
from extractors.models.chat import ChatModel
from research.empty_graph import empty_graph
from server.cli.output import print_report
from server.errors import ServerError
from server.gaps import GapIncomplete
from server.gaps.service import GapService
from server.gaps.storage import Asked
from server.intake.plain_dialogue import PlainDialogue
from server.services import Services
from server.settings import Settings
from sparql.ask.service import AskResult
from sparql.protocol.requests import ProtocolRequest
from sparql.syntax.request_facts import Kind

_UPDATE_S: Final = 60.0
_BY: Final = Reviewer("evaluation")
_FALSE: Final = "1066"
"""What is believed where neither a model server nor the file of facts says anything."""


@dataclass(frozen=True)
class Fact:
    """A fact of the graph that a question asks for, and a passage that states it.

    `belief`, written by hand, takes the place of a large model's reply where there is no model server.
    """

    id: str
    question: str
    subject: str
    predicate: str
    value: str
    passage: str
    belief: str = _FALSE


@dataclass(frozen=True)
class Filled:
    """What became of one question; `by_hand`: with a reply that was written, not a model's."""

    id: str
    question: str
    alone: bool
    by_hand: bool
    deleted: str
    """`refused`, `right` or `wrong`."""
    recorded: bool
    believed: str | None
    counted: bool
    """Whether the model's belief was taken for known: it must never be."""
    verdict: str | None
    updated: bool
    answer: str | None
    seconds: float


def read_facts(path: Path) -> list[Fact]:
    """Read facts as JSON lines. Raises `ServerError`, which names the line."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found.append(Fact(**json.loads(line)))
        except (ValueError, TypeError) as error:
            raise ServerError(f"{path}, line {number} is no fact: {error}.") from error
    return found


async def measure_filling(
    settings: Settings,
    facts: Sequence[Fact],
    done: Callable[[Filled], None],
    model: ChatModel | None = None,
) -> list[Filled]:
    """Run the experiment over the sample city; `done` is called with each question."""
    with tempfile.TemporaryDirectory(prefix="urbankg-passages-") as folder:
        articles = Path(folder) / "articles.jsonl"
        lines = (json.dumps({"title": fact.subject, "text": fact.passage}) for fact in facts)
        articles.write_text("\n".join(lines), encoding="utf-8")
        reading = settings.model_copy(update={"encyclopedia": articles})
        async with empty_graph(reading, model, sample=True) as services:
            for fact in facts:
                await _delete(services, fact)
            found = []
            for fact in facts:
                found.append(await _filled(services, fact))
                done(found[-1])
            return found


async def _delete(services: Services, fact: Fact) -> None:
    (entry, *_) = services.labels.exact(fact.subject)
    text = f"DELETE WHERE {{ <{entry.iri.value}> <{NamedNode(fact.predicate).value}> ?value }}"
    await services.updates.run(ProtocolRequest(Kind.UPDATE, text), _UPDATE_S)


async def _filled(services: Services, fact: Fact) -> Filled:
    started = time.monotonic()
    asker, service = services.asker, GapService(services)
    by_hand = services.model.prompt_profile != "full"
    alone = fact.value in fact.belief
    if not by_hand:
        plain = PlainDialogue(services.model, services.settings.prompts)
        alone = fact.value in ((await plain.ask(fact.question)).answer or "")
    before = await asker.ask(fact.question)
    recorded = await asyncio.to_thread(
        services.gaps.record, before.gaps, Asked(fact.question), before.sparql, "evaluation"
    )
    believed, verdict, counted = None, None, False
    after = before
    if recorded:
        gap = recorded[0]
        try:
            believed = (await service.complete(gap))["completion"]["value"]
        except (GapIncomplete, ModelError):
            believed = fact.belief
            stored = await asyncio.to_thread(services.gaps.get, gap)
            await asyncio.to_thread(services.gaps.complete, stored, _by_hand(believed), ())
        counted = (await asker.ask(fact.question)).answer is not None
        try:
            completion = (await service.verify(gap))["completion"]
            if completion is not None and completion["by"] == "passages":
                verdict = completion["verdict"]
                await service.accept(gap, _BY)
        except (ServerError, ModelError) as error:
            verdict = str(error)
        after = await asker.ask(fact.question)
    return Filled(
        fact.id,
        fact.question,
        alone,
        by_hand,
        _outcome(before, fact),
        bool(recorded),
        believed,
        counted,
        verdict,
        _outcome(after, fact) == "right",
        after.answer,
        time.monotonic() - started,
    )


def _by_hand(value: str) -> dict[str, Any]:
    about = {"by": "model", "model": "written by hand", "verdict": "unverified"}
    return {**about, "value": value, "statements": []}


def _outcome(result: AskResult, fact: Fact) -> str:
    if result.answer is None:
        return "refused"
    return "right" if fact.value in result.answer else "wrong"


def print_filling(found: Sequence[Filled], model: str) -> None:
    """The three conditions, and what was counted that nobody had verified."""
    rows = []
    written = " (replies written by hand)" if any(one.by_hand for one in found) else ""
    rows.append((f"the model alone{written}", f"{sum(one.alone for one in found)}/{len(found)}"))
    for outcome in ("right", "wrong", "refused"):
        count = sum(one.deleted == outcome for one in found)
        rows.append((f"knowledge deleted: {outcome}", f"{count}/{len(found)}"))
    rows.append(("gaps recorded", f"{sum(one.recorded for one in found)}/{len(found)}"))
    right = sum(one.updated for one in found)
    rows.append(("knowledge updated", f"{right}/{len(found)} ({right / len(found):.2f})"))
    wrong = sum(not one.updated and one.answer is not None for one in found)
    rows.append(("knowledge updated: wrong", f"{wrong}/{len(found)}"))
    for verdict in ("confirmed", "corrected"):
        count = sum(one.verdict == verdict for one in found)
        rows.append((f"completions {verdict} by a passage", f"{count}/{len(found)}"))
    rows.append(("unverified completions counted", str(sum(one.counted for one in found))))
    print_report(f"{len(found)} questions, {model}", ("condition", "answered rightly"), rows)


def write_filled(path: Path, found: Sequence[Filled]) -> None:
    """Write each question with what became of it as a JSON line."""
    path.write_text("".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in found))
