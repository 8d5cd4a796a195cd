"""Measures an adapter on held-out frames through the real engine, under the schema that is served.

python -m extractors.training.evaluate --out FOLDER [--adapter FILE] [--limit N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from extractors.errors import ModelReplyError
from extractors.models.chat import Message
from extractors.models.embedded import EmbeddedModel
from extractors.models.weights import ADAPTER_PATH

__all__ = ["extraction_schema", "measure", "plan_schema"]


def extraction_schema(relations: list[str]) -> dict[str, Any]:
    """Give the schema of an extraction reply with these relations."""
    triple = {
        "type": "object",
        "properties": {
            "subject": {"type": "string"},
            "relation": {"type": "string", "enum": relations},
            "object": {"type": "string"},
        },
        "required": ["subject", "relation", "object"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"triples": {"type": "array", "items": triple}},
        "required": ["triples"],
        "additionalProperties": False,
    }


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


def _schema_for(example: dict[str, str]) -> dict[str, Any]:
    lines = dict(
        line.split(": ", 1) if ": " in line else (line.rstrip(": "), "")
        for line in example["user"].split("\n")
    )
    lists = {
        key: [part for part in value.split("; ") if part] for key, value in lines.items() if key != "Text"
    }
    if example["task"] == "extract":
        return extraction_schema(lists["Relations"])
    return plan_schema(lists["Names"], lists["Classes"], lists["Relations"])


def _triples(answer: str) -> set[tuple[str, str, str]]:
    found = json.loads(answer).get("triples", [])
    return {(t["subject"].strip(), t["relation"].strip(), t["object"].strip()) for t in found}


async def measure(
    examples: list[dict[str, str]], adapter: Path | None, log: Path | None = None
) -> dict[str, Any]:
    """Answer every example and count: exact answers, and strict micro precision, recall and F1 of triples."""
    model = EmbeddedModel(adapter=adapter)
    begin = time.monotonic()
    await model.start()
    load_seconds = time.monotonic() - begin
    counts: Counter[str] = Counter()
    prompt_tokens = completion_tokens = 0
    seconds = 0.0
    lines = []
    for example in examples:
        messages = [Message("system", example["system"]), Message("user", example["user"])]
        try:
            reply = await model.complete(messages, schema=_schema_for(example), max_tokens=700)
            text = reply.text
            prompt_tokens += reply.prompt_tokens
            completion_tokens += reply.completion_tokens
            seconds += reply.seconds
        except ModelReplyError as error:
            text = '{"triples":[],"steps":[]}'
            counts["broken"] += 1
            lines.append({"broken": error.reply})
        task = example["task"]
        counts[task] += 1
        if task == "plan":
            right = json.loads(text) == json.loads(example["answer"])
        else:
            gold, got = _triples(example["answer"]), _triples(text)
            body = example["user"].partition("\nText: ")[2]
            counts["invented"] += sum(s not in body or o not in body for s, _, o in got)
            counts["true"] += len(gold & got)
            counts["gold"] += len(gold)
            counts["got"] += len(got)
            right = gold == got
            if not gold:
                counts["empty"] += 1
                counts["empty exact"] += right
        counts[f"{task} exact"] += right
        if not right:
            lines.append({"user": example["user"], "gold": example["answer"], "got": text})
    await model.close()
    if log is not None:
        log.write_text(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
        )
    precision = counts["true"] / max(1, counts["got"])
    recall = counts["true"] / max(1, counts["gold"])
    return {
        "counts": dict(counts),
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(2 * precision * recall / max(1e-9, precision + recall), 4),
        "load_seconds": round(load_seconds, 2),
        "seconds": round(seconds, 1),
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "completion_tokens_per_second": round(completion_tokens / max(1e-9, seconds), 1),
    }


def main() -> None:
    """Measure the adapter on FOLDER/validation.jsonl and write FOLDER/scores.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, default=ADAPTER_PATH)
    parser.add_argument("--limit", type=int, default=100)
    arguments = parser.parse_args()
    with (arguments.out / "validation.jsonl").open(encoding="utf-8") as file:
        examples = [json.loads(line) for line in file]
    examples = examples[: arguments.limit or None]
    scores = asyncio.run(measure(examples, arguments.adapter, arguments.out / "mistakes.jsonl"))
    (arguments.out / "scores.json").write_text(json.dumps(scores, indent=1), encoding="utf-8")
    print(json.dumps(scores, indent=1))


if __name__ == "__main__":
    main()
