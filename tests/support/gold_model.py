"""A served model that replies with the gold of a text, or with some of its triples the wrong way round."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extractors.models.chat import Message, PromptProfile, Reply

GOLD = Path(__file__).parents[2] / "research" / "urban"

Row = tuple[str, str, str]


@dataclass(frozen=True)
class GoldText:
    """A text and its triples; `kinds` are among them as "is a"."""

    text: str
    triples: tuple[Row, ...]

    @property
    def relations(self) -> tuple[Row, ...]:
        """The triples that say no kind."""
        return tuple(triple for triple in self.triples if triple[1] != "is a")


def gold_texts(name: str) -> list[GoldText]:
    """The texts of a gold set of the evaluation, with the statements that were found in them by hand."""
    lines = (GOLD / f"{name}_gold.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [
        GoldText(row["text"], tuple((t["subject"], t["relation"], t["object"]) for t in row["triples"]))
        for row in rows
    ]


@dataclass
class GoldModel:
    """Replies with the triples of `gold` whose ends the window has.

    Those in `exchanged` have their ends exchanged. The quote is the sentence or line around the object, as a
    careful model would copy it.
    """

    gold: GoldText = GoldText("", ())
    exchanged: frozenset[Row] = frozenset()
    name: str = "gold"
    prompt_profile: PromptProfile = "full"
    schemas: list[Mapping[str, Any]] = field(default_factory=list)
    prefixes: set[str] = field(default_factory=set)

    def said(self, triple: Row) -> Row:
        """A triple of the gold as the model says it."""
        subject, relation, object_ = triple
        return (object_, relation, subject) if triple in self.exchanged else triple

    def reply(self, window: str, schema: Mapping[str, Any]) -> str:
        """The reply about a window, as the schema has it."""
        allowed = schema["properties"]["triples"]["items"]["properties"]["relation"]["enum"]
        rows = []
        for triple in self.gold.triples:
            shown = triple[0] if triple[1] == "is a" else triple[2]
            if shown in window and triple[1] in allowed:
                subject, relation, object_ = self.said(triple)
                quote = next((line for line in window.split("\n") if shown in line), "")
                rows.append({"quote": quote, "subject": subject, "relation": relation, "object": object_})
        return json.dumps({"triples": rows}, ensure_ascii=False, separators=(",", ":"))

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        assert schema is not None
        self.schemas.append(schema)
        self.prefixes.add(json.dumps([message.content for message in messages[:-1]]))
        text = self.reply(messages[-1].content, schema)
        return Reply(text, "stop", 100, 50, 0.0, self.name, None)

    async def close(self) -> None:
        """Holds nothing open."""
