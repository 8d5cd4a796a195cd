"""Measures an adapter on held-out frames through the real engine, in the way it is served.

python -m extractors.research.training.evaluate --out FOLDER [--adapter FILE] [--limit N]

Forms are filled in as extraction does, plans are made under the schema that asking gives. The passages about
cities, whose facts are all known, also yield the calibration: how often an answer of a score is right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extractors.errors import ModelReplyError
from extractors.models.chat import Message
from extractors.models.forms import BlankField, BlankForm
from extractors.models.local.embedded import EmbeddedModel
from extractors.models.local.weights import ADAPTER_PATH
from extractors.prompting.answer_grammar import answer_grammar
from extractors.prompting.form import opening, read_answer
from extractors.readers.form import pairs_of
from extractors.research.training.calibrating import fit_isotonic, reliability
from extractors.research.training.dataset import PLAN
from extractors.research.training.frames.relations import RENAMED

__all__ = ["measure", "measure_run", "plan_schema"]

_LEAST_PRESENCE = 0.05
_SURE = 0.5
KINDS_ASKED = tuple(f"{name}:" for name in ("is a", *RENAMED["is a"]))


def plan_schema(names: list[str], classes: list[str], relations: list[str]) -> dict[str, Any]:
    """Give the schema of a plan over these linked choices."""

    def step(op: str, **others: Any) -> dict[str, Any]:
        properties = {"op": {"type": "string", "enum": [op]}, **others}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    name = {"type": "string", "enum": [*names, "NONE"]}
    concept = {"type": "string", "enum": [*classes, "NONE"]}
    relation = {"type": "string", "enum": [*relations, "NONE"]}
    steps = [
        step("entity", name=name),
        step("find", **{"class": concept}),
        step("relate", property=relation),
        step("relate", property=relation, to=name),
        step("within", of=name),
        step("near", of=name, km={"type": "number"}),
        step("touches", of=name),
        step("count"),
    ]
    return {
        "type": "object",
        "properties": {"steps": {"type": "array", "items": {"anyOf": steps}}},
        "required": ["steps"],
        "additionalProperties": False,
    }


@dataclass
class _Found:
    """What was counted; `judged` are the scores of answers about cities, and whether they are right."""

    counts: Counter[str] = field(default_factory=Counter)
    judged: list[tuple[float, bool]] = field(default_factory=list)
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


def _plan_schema_for(user: str) -> dict[str, Any]:
    lists = {}
    for line in user.split("\n"):
        key, _, value = line.partition(":")
        lists[key] = [part.strip() for part in value.split("; ") if part.strip()]
    return plan_schema(lists["Names"], lists["Classes"], lists["Relations"])


async def _plan(model: EmbeddedModel, example: dict[str, Any], found: _Found) -> None:
    found.counts["plan"] += 1
    messages = [Message("system", PLAN), Message("user", example["text"])]
    try:
        reply = await model.complete(messages, schema=_plan_schema_for(example["text"]), max_tokens=700)
    except ModelReplyError as error:
        found.counts["broken"] += 1
        found.mistakes.append({"broken": error.reply})
        return
    found.prompt_tokens += reply.prompt_tokens
    found.completion_tokens += reply.completion_tokens
    found.seconds += reply.seconds
    if json.loads(reply.text) == json.loads(example["answer"]):
        found.counts["plan exact"] += 1
    else:
        found.mistakes.append({"user": example["text"], "gold": example["answer"], "got": reply.text})


async def _form(model: EmbeddedModel, example: dict[str, Any], found: _Found) -> None:
    kind = "city" if example["source"] == "city" else "topics"
    copied, classified = (answer_grammar(example["text"], free_value=free) for free in (False, True))
    blank = BlankForm(
        opening(example["text"]),
        tuple(
            BlankField(one["heading"], classified if one["heading"].startswith(KINDS_ASKED) else copied)
            for one in example["fields"]
        ),
        _LEAST_PRESENCE,
        96,
    )
    form = await model.fill(blank)
    found.prompt_tokens += form.prompt_tokens
    found.completion_tokens += form.completion_tokens
    found.seconds += form.seconds
    for asked, filled in zip(example["fields"], form.fields, strict=True):
        gold = set(read_answer(asked["answer"]))
        pairs = pairs_of(filled)
        if kind == "city":
            found.judged += [(pair.score, (pair.subject, pair.object) in gold) for pair in pairs]
        got = {(pair.subject, pair.object) for pair in pairs} if filled.presence >= _SURE else set()
        found.counts[f"{kind} fields"] += 1
        found.counts[f"{kind} exact"] += gold == got
        found.counts[f"{kind} true"] += len(gold & got)
        found.counts[f"{kind} gold"] += len(gold)
        found.counts[f"{kind} got"] += len(got)
        if gold != got:
            wrong = {"text": example["text"], "heading": asked["heading"], "gold": asked["answer"]}
            found.mistakes.append({**wrong, "got": filled.text, "presence": round(filled.presence, 3)})


def _rates(counts: Counter[str], kind: str) -> dict[str, float]:
    precision = counts[f"{kind} true"] / max(1, counts[f"{kind} got"])
    recall = counts[f"{kind} true"] / max(1, counts[f"{kind} gold"])
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}


async def measure(
    examples: list[dict[str, Any]],
    adapter: Path | None,
    out: Path | None = None,
    *,
    until: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Answer the examples until the clock shows `until`, and count.

    With `out`, write mistakes.jsonl and calibration.json there.
    """
    found = _Found()
    # An adapter on trial leaves no merged weights behind.
    with tempfile.TemporaryDirectory() as cache:
        model = EmbeddedModel(adapter=adapter, cache=Path(cache))
        begin = time.monotonic()
        await model.start()
        load_seconds = time.monotonic() - begin
        for example in examples:
            if clock() >= until:
                break
            await (_plan if example["source"] == "plan" else _form)(model, example, found)
        await model.close()
    scores: dict[str, Any] = {
        "counts": dict(found.counts),
        "city": _rates(found.counts, "city"),
        "topics": _rates(found.counts, "topics"),
        "load_seconds": round(load_seconds, 2),
        "seconds": round(found.seconds, 1),
        "prompt_tokens": found.prompt_tokens,
        "completion_tokens": found.completion_tokens,
        "completion_tokens_per_second": round(found.completion_tokens / max(1e-9, found.seconds), 1),
    }
    if len(found.judged) > 1:
        values, right = zip(*found.judged, strict=True)
        fitted = fit_isotonic(values, right, data="held-out composed passages about cities")
        told = reliability([fitted.probability(value) for value in values], right)
        scores["reliability"] = {
            "ece": round(told.ece, 4),
            "brier": round(told.brier, 4),
            "count": told.count,
        }
        if out is not None:
            (out / "calibration.json").write_text(fitted.as_json(), encoding="utf-8")
    if out is not None:
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in found.mistakes)
        (out / "mistakes.jsonl").write_text("".join(lines), encoding="utf-8")
    return scores


def measure_run(
    out: Path,
    adapter: Path,
    limit: int | None = None,
    *,
    until: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Measure an adapter on its run's validation.jsonl; writes scores.json and calibration.json there."""
    with (out / "validation.jsonl").open(encoding="utf-8") as file:
        examples = [json.loads(line) for line in file]
    scores = asyncio.run(measure(examples[:limit], adapter, out, until=until, clock=clock))
    (out / "scores.json").write_text(json.dumps(scores, indent=1), encoding="utf-8")
    return scores


def main() -> None:
    """Measure the adapter on FOLDER/validation.jsonl and write FOLDER/scores.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, default=ADAPTER_PATH)
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    print(json.dumps(measure_run(arguments.out, arguments.adapter, arguments.limit), indent=1))


if __name__ == "__main__":
    main()
