"""Measures an adapter on held-out frames through the real engine, and calibrates its scores.

Isotonic regression (pool adjacent violators) maps raw scores to probabilities; it follows the data and needs
some hundreds of judged statements.
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extractors.checks.calibration import Calibration
from extractors.errors import CalibrationError, ModelReplyError
from extractors.models.chat import BlankField, BlankForm, Message
from extractors.models.local.embedded import EmbeddedModel
from extractors.readers.form import answer_grammar, opening, pairs_of, read_answer
from research.training.dataset import PLAN
from research.training.frames.fields import RENAMED

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ReliabilityBin:
    """Statements whose probability lies in [low, high): how many, how sure, and how often right."""

    low: float
    high: float
    count: int
    mean_probability: float
    right: float


@dataclass(frozen=True)
class Reliability:
    """How far probabilities are from what happens: 0 is perfect for both measures.

    `ece` is the expected calibration error, the mean gap between a bin's probability and its share of right
    statements, weighed by its size; `brier` the mean squared error, which also rewards telling apart.
    """

    bins: tuple[ReliabilityBin, ...]
    ece: float
    brier: float
    count: int

    def as_text(self) -> str:
        """A table for people."""
        lines = [f"{self.count} statements, ECE {self.ece:.3f}, Brier {self.brier:.3f}"]
        lines += [
            f"{one.low:.2f}-{one.high:.2f}  {one.count:6}  said {one.mean_probability:.2f}  "
            f"right {one.right:.2f}"
            for one in self.bins
        ]
        return "\n".join(lines)


def fit_isotonic(scores: Sequence[float], right: Sequence[bool], *, data: str = "") -> Calibration:
    """Fit by isotonic regression: the closest rising steps, joined at the middles of their scores.

    Half a right and half a wrong statement are counted with the first and the last step (Laplace's rule), so
    that nothing is ever certain. Raises `CalibrationError` for too little data.
    """
    x, y = _judged(scores, right)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    unique, starts = np.unique(x, return_index=True)
    weights = np.diff(np.append(starts, len(x))).astype(np.float64)
    sums = np.add.reduceat(y, starts)
    blocks: list[tuple[float, float, float]] = []  # weighed sum of scores, right ones, statements
    for score, total, weight in zip(unique, sums, weights, strict=True):
        block = (float(score * weight), float(total), float(weight))
        while blocks and _share(blocks[-1]) >= _share(block):
            earlier = blocks.pop()
            block = (earlier[0] + block[0], earlier[1] + block[1], earlier[2] + block[2])
        blocks.append(block)
    shares = [_share(block) for block in blocks]
    for end in (0, -1):
        shares[end] = (blocks[end][1] + 0.5) / (blocks[end][2] + 1)
    rising = np.maximum.accumulate(np.asarray(shares))
    middles = (block[0] / block[2] for block in blocks)
    pairs = {round(s, 6): round(float(p), 6) for s, p in zip(middles, rising, strict=True)}
    return Calibration("isotonic", tuple(sorted(pairs.items())), len(x), data)


def reliability(probabilities: Sequence[float], right: Sequence[bool], *, bins: int = 10) -> Reliability:
    """Measure probabilities against what was right, in bins of equal width. Raises `CalibrationError`."""
    p, y = _judged(probabilities, right, least=1)
    places = np.minimum((p * bins).astype(int), bins - 1)
    found = tuple(
        ReliabilityBin(
            low=place / bins,
            high=(place + 1) / bins,
            count=int((places == place).sum()),
            mean_probability=float(p[places == place].mean()),
            right=float(y[places == place].mean()),
        )
        for place in sorted(set(places.tolist()))
    )
    ece = sum(one.count * abs(one.mean_probability - one.right) for one in found) / len(p)
    return Reliability(found, float(ece), float(((p - y) ** 2).mean()), len(p))


def _judged(values: Sequence[float], right: Sequence[bool], *, least: int = 2) -> tuple[Floats, Floats]:
    if len(values) != len(right):
        raise CalibrationError(f"There are {len(values)} scores and {len(right)} judgments: give one each.")
    if len(values) < least:
        raise CalibrationError(f"{len(values)} judged statements are too few: judge at least {least}.")
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all() or x.min() < 0 or x.max() > 1:
        raise CalibrationError("Scores and probabilities lie between 0 and 1.")
    return x, np.asarray(right, dtype=np.float64)


def _share(block: tuple[float, float, float]) -> float:
    return block[1] / block[2]


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
