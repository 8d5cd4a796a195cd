"""Measures extraction on the urban gold sentences: python -m extractors.evaluation.urban [--limit N].

Strict: a triple counts when subject, relation and object equal the gold's in words (but for case, articles
and blanks). Told are the model's own triples, and those the pipeline finds no fault with before the gate.
Kinds that the model chose for a name because the text does not say them are not in the gold, nor counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from extractors.errors import ModelError
from extractors.linking import LabelEntry
from extractors.models import open_model
from extractors.pipeline import Pipeline
from extractors.prompting import IS_A
from extractors.reply import parse
from ontology import Schema

__all__ = ["GOLD", "Score", "main"]

GOLD = Path(__file__).parent / "urban_gold.jsonl"
_ONTOLOGY = Path(__file__).resolve().parents[2] / "ontology"
Triple = tuple[str, str, str]


@dataclass
class Score:
    """Counts over all texts; precision, recall and F1 are micro-averaged."""

    right: int = 0
    told: int = 0
    gold: int = 0

    def add(self, told: set[Triple], gold: set[Triple]) -> None:
        """Count one text."""
        self.right += len(told & gold)
        self.told += len(told)
        self.gold += len(gold)

    def __str__(self) -> str:
        precision = self.right / self.told if self.told else 0.0
        recall = self.right / self.gold if self.gold else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        counts = f"{self.right} right of {self.told} told, {self.gold} in the gold"
        return f"P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}  ({counts})"


class _NoLabels:
    """An empty graph: every name is new."""

    def exact(self, words: str) -> Sequence[LabelEntry]:
        return ()

    def similar(self, words: str, limit: int) -> Sequence[tuple[LabelEntry, float]]:
        return ()

    def mentions(
        self, text: str, *, any_case: bool = False
    ) -> Sequence[tuple[int, int, Sequence[LabelEntry]]]:
        return ()


def _normal(triple: dict[str, str]) -> Triple:
    subject, relation, value = (
        " ".join(triple[key].casefold().split()) for key in ("subject", "relation", "object")
    )
    return _bare(subject), relation, _bare(value)


def _bare(words: str) -> str:
    for article in ("the ", "a ", "an "):
        words = words.removeprefix(article)
    return words


async def _measure(gold_file: Path, limit: int | None, url: str | None, out: Path | None) -> int:
    model = open_model(url)
    pipeline = Pipeline(schema=Schema.load(_ONTOLOGY), labels=_NoLabels(), model=model)
    raw, kept, seconds, failures = Score(), Score(), 0.0, 0
    rows = [json.loads(line) for line in gold_file.read_text(encoding="utf-8").splitlines() if line.strip()]
    for row in rows[:limit]:
        gold = {_normal(triple) for triple in row["triples"]}
        text = row["text"].casefold()
        try:
            extraction = await pipeline.extract(row["text"])
        except ModelError:
            failures += 1
            raw.add(set(), gold)
            kept.add(set(), gold)
            continue
        seconds += extraction.seconds

        def counted(triples: Sequence[dict[str, str]], text: str = text) -> set[Triple]:
            found = {_normal(triple) for triple in triples}
            return {t for t in found if t[1] != IS_A or t[2] in text}

        replies = [window.reply for window in extraction.windows if window.reply and not window.error]
        said = [
            {"subject": t.subject, "relation": t.relation, "object": t.object}
            for reply in replies
            for t in parse(reply).triples
        ]
        sound = [json.loads(c.reply) for c in extraction.candidates if c.reply and not c.problems]
        raw.add(counted(said), gold)
        kept.add(counted(sound), gold)
    await model.close()
    print(
        f"{len(rows[:limit])} texts, {failures} without a usable reply, {seconds:.0f} s, model {model.name}"
    )
    print(f"the model's triples        {raw}")
    print(f"after the pipeline's rules {kept}")
    if out is not None:
        scores = {"texts": len(rows[:limit]), "model": asdict(raw), "pipeline": asdict(kept)}
        out.write_text(json.dumps(scores, indent=1), encoding="utf-8")
    return 0


def main() -> int:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=Path, default=GOLD)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--model-url", help="a TGI-compatible server; the embedded model when not given")
    parser.add_argument("--out", type=Path, help="also write the counts here, as JSON")
    arguments = parser.parse_args()
    return asyncio.run(_measure(arguments.gold, arguments.limit, arguments.model_url, arguments.out))


if __name__ == "__main__":
    raise SystemExit(main())
