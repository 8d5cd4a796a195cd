"""Extraction from gold texts: scores of what the model says, the pipeline keeps and the gate accepts.

Of what is accepted with a confidence of at least `SURE`, three quarters are to be right, for each relation.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel
from extractors.prompting.prompt import IS_A
from extractors.readers.reading import Cost
from research.empty_graph import empty_graph, gated
from research.estimates import Estimate, cell, estimate_json, f1, ratio
from research.judging.tables import Item, write_page, write_table
from research.reporting import (
    expenses_cells,
    expenses_heads,
    expenses_json,
    model_identity,
    progress_of,
    write_json,
)
from research.urban.gold import (
    GoldText,
    ScoredTriple,
    TextResult,
    Words,
    measure,
    read_gold,
    result_json,
)
from server.cli.output import print_report, stderr
from server.data.sample.city import FOLDER
from server.settings import Settings


@dataclass(frozen=True)
class Stage:
    """Precision, recall and F1 over all texts, with the counts they come from.

    `named` of those told are kinds that only their name says, and what the gold also allows: wrong in the
    strict scores, and right in `supported`, the precision beside them.
    """

    right: int
    told: int
    gold: int
    named: int
    precision: Estimate | None
    recall: Estimate | None
    f1: Estimate | None
    supported: Estimate | None

    def json(self) -> dict[str, Any]:
        """The stage as JSON."""
        return {
            "right": self.right,
            "told": self.told,
            "gold": self.gold,
            "named_kinds": self.named,
            "precision": estimate_json(self.precision),
            "recall": estimate_json(self.recall),
            "f1": estimate_json(self.f1),
            "precision_with_named_kinds": estimate_json(self.supported),
        }


@dataclass(frozen=True)
class Scores:
    """`model`: all that was said; `pipeline`: without what the pipeline finds wrong; `gate`: what came in.

    `relations` and `kinds` are the two parts of the last of them. `conformance` is the share of all that was
    said whose relation, or kind, the ontology has, None where nothing was said; `relation_types` counts the
    distinct relations in all that was said.
    """

    texts: int
    failed: int
    model: Stage
    pipeline: Stage
    gate: Stage | None
    relations: Stage
    kinds: Stage
    conformance: float | None
    relation_types: int
    entities: int
    made_up: tuple[str, ...]
    unsaid: int
    cost: Cost
    seconds: float

    def json(self) -> dict[str, Any]:
        """The scores as JSON."""
        return {
            "texts": self.texts,
            "failed": self.failed,
            "model": self.model.json(),
            "pipeline": self.pipeline.json(),
            "gate": self.gate.json() if self.gate else None,
            "relations": self.relations.json(),
            "kinds": self.kinds.json(),
            "ontology_conformance": None if self.conformance is None else round(self.conformance, 4),
            "relation_types": self.relation_types,
            "entities_accepted": self.entities,
            "entities_made_up": list(self.made_up),
            "kinds_accepted_unsaid": self.unsaid,
            "seconds_per_text": round(self.seconds / self.texts, 3) if self.texts else None,
        }


def score(results: Sequence[TextResult], *, seed: int = 0) -> Scores:
    """The scores over all texts."""
    gated = any(result.gated for result in results)

    said = [one for result in results for one in result.said]

    def last(one: ScoredTriple) -> bool:
        return one.accepted is True if gated else one.sound

    return Scores(
        texts=len(results),
        failed=sum(result.error is not None for result in results),
        model=_stage(results, lambda one: True, seed),
        pipeline=_stage(results, lambda one: one.sound, seed),
        gate=_stage(results, last, seed) if gated else None,
        relations=_stage(results, last, seed, lambda words: words[1] != IS_A),
        kinds=_stage(results, last, seed, lambda words: words[1] == IS_A),
        conformance=sum(one.conforms for one in said) / len(said) if said else None,
        relation_types=len({one.words[1] for one in said}),
        entities=sum(result.entities for result in results),
        made_up=tuple(f"{r.gold.identifier}: {name}" for r in results for name in r.made_up),
        unsaid=sum(result.unsaid for result in results),
        cost=sum((result.cost for result in results), Cost()),
        seconds=sum(result.seconds for result in results),
    )


def _stage(
    results: Sequence[TextResult],
    counts: Callable[[ScoredTriple], bool],
    seed: int,
    part: Callable[[Words], bool] = lambda words: True,
) -> Stage:
    """Of the statements that count, and of the gold, those of a part."""
    told = [{one.words for one in r.said if counts(one) and part(one.words)} for r in results]
    wanted = [{words for words in result.gold.triples if part(words)} for result in results]
    named = [
        len({one.words for one in result.said if one.named and not one.right} & words)
        for result, words in zip(results, told, strict=True)
    ]
    right = [len(words & gold) for words, gold in zip(told, wanted, strict=True)]
    said, gold = [len(words) for words in told], [len(words) for words in wanted]
    supported = [a + b for a, b in zip(right, named, strict=True)]
    return Stage(
        sum(right),
        sum(said),
        sum(gold),
        sum(named),
        ratio(right, said, seed=seed) if results else None,
        ratio(right, gold, seed=seed) if results else None,
        f1(right, said, gold, seed=seed) if results else None,
        ratio(supported, said, seed=seed) if results else None,
    )


SURE: Final = 0.8
"""The confidence from which three quarters are promised to be right."""
_PROMISED: Final = 0.75
_FEWEST: Final = 4
"""So few statements of a relation say nothing of it."""


@dataclass(frozen=True)
class RelationCounts:
    """Accepted statements of one relation: all, those the gold has, those it allows; then the sure ones."""

    accepted: int = 0
    right: int = 0
    allowed: int = 0
    sure: int = 0
    sure_right: int = 0
    sure_allowed: int = 0

    def plus(self, one: ScoredTriple) -> RelationCounts:
        """These counts with one more accepted statement."""
        allowed = one.right or one.named
        sure = one.confidence is not None and one.confidence >= SURE
        return RelationCounts(
            self.accepted + 1,
            self.right + one.right,
            self.allowed + allowed,
            self.sure + sure,
            self.sure_right + (sure and one.right),
            self.sure_allowed + (sure and allowed),
        )

    @property
    def keeps_promise(self) -> bool | None:
        """Whether enough of the sure ones are right; None where they are too few to say."""
        return None if self.sure < _FEWEST else self.sure_allowed >= _PROMISED * self.sure


def by_relation(results: Iterable[TextResult]) -> Mapping[str, RelationCounts]:
    """Count the accepted relations, the most frequent first; kinds are counted apart (`Scores.kinds`)."""
    found: dict[str, RelationCounts] = defaultdict(RelationCounts)
    for result in results:
        for one in result.said:
            if one.accepted and one.words[1] != IS_A:
                found[one.told[1]] = found[one.told[1]].plus(one)
    return dict(sorted(found.items(), key=lambda item: (-item[1].accepted, item[0])))


def counts_in(report: Path) -> Mapping[str, RelationCounts]:
    """The counts of a run by its report, `urban.json`."""
    found = json.loads(report.read_text(encoding="utf-8"))["relations"]
    return {name: RelationCounts(**counts) for name, counts in found.items()}


def print_by_relation(found: Mapping[str, RelationCounts]) -> None:
    """A row for each relation that has enough sure statements, those that break the promise first."""
    rows = [(name, one) for name, one in found.items() if one.keeps_promise is not None]
    rows.sort(key=lambda row: row[1].keeps_promise is True)
    print_report(
        f"accepted relations with a confidence of at least {SURE}",
        ("relation", "sure", "right", "with what the gold allows", f"at least {_PROMISED}"),
        [
            (
                name,
                str(one.sure),
                str(one.sure_right),
                str(one.sure_allowed),
                "yes" if one.keeps_promise else "no",
            )
            for name, one in rows
        ],
    )


GOLD: Final = Path(__file__).with_name("urban_gold.jsonl")
SENTENCES: Final = "sentences"
CHOOSING: Final = "sentences, choosing half"
OTHER: Final = "sentences, other half"
SAMPLES: Final = "sample texts"
ALL: Final = "all"
GIVEN: Final = "texts"


async def measure_urban(
    settings: Settings,
    gold: Path | None,
    out: Path,
    *,
    limit: int | None,
    seed: int,
    prices: Prices,
    sample: bool = False,
    model: ChatModel | None = None,
) -> Mapping[str, Scores]:
    """Measure through the gate; write the report, the statements of each text and the tables for judges.

    Without a file of gold texts there are two sets, the urban sentences and the texts of the sample city; the
    sentences are also scored by halves, since choices are made by looking at one half only. Nothing is stored
    in any graph; it is empty, or with `sample` the sample city. A given model is used instead of that of the
    settings.
    """
    sets = {
        name: drawn(texts, limit, seed)
        for name, texts in (
            {GIVEN: read_gold(gold)}
            if gold is not None
            else {SENTENCES: read_gold(GOLD), SAMPLES: read_gold(FOLDER / "texts" / "gold.jsonl")}
        ).items()
    }
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[TextResult]] = {}
    async with empty_graph(settings, model, sample=sample) as services:
        for name, texts in sets.items():
            with progress_of(name, len(texts)) as tell:
                results[name] = await measure(texts, gated(services), services.schema, tell=tell)
    whole = [result for found in results.values() for result in found]
    scores = {name: score(found, seed=seed) for name, found in _parts(results).items()}
    report = {
        "seed": seed,
        "model": model_identity(settings) if model is None else model.name,
        "graph": "the sample city" if sample else "empty",
        "sets": {
            name: {**one.json(), **expenses_json(one.cost, one.texts, prices)} for name, one in scores.items()
        },
        "relations": {name: asdict(one) for name, one in by_relation(whole).items()},
    }
    write_json(out / "urban.json", report)
    with (out / "texts.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(result_json(one), ensure_ascii=False) + "\n" for one in whole)
    items = [
        Item(result.gold.identifier, result.gold.text, *one.told, quote=one.quote)
        for result in whole
        for one in result.said
        if one.accepted
    ]
    write_table(out / "judge.csv", items)
    write_page(out / "judge.html", items, f"{len(items)} statements that the gate accepted")
    return scores


def is_choosing(text: GoldText) -> bool:
    """Whether a text is in the half used for choices, by a hash of its name."""
    return hashlib.sha256(text.identifier.encode()).digest()[0] % 2 == 0


def _parts(results: Mapping[str, list[TextResult]]) -> Mapping[str, list[TextResult]]:
    """The sets, the sentences by halves, and all together."""
    sentences = results[SENTENCES if SENTENCES in results else GIVEN]
    halves = {
        CHOOSING: [one for one in sentences if is_choosing(one.gold)],
        OTHER: [one for one in sentences if not is_choosing(one.gold)],
    }
    if GIVEN in results:
        return {**{name: half for name, half in halves.items() if half}, **results}
    return {**halves, **results, ALL: [one for found in results.values() for one in found]}


def drawn(texts: Sequence[GoldText], limit: int | None, seed: int) -> list[GoldText]:
    """A uniform sample of texts, in their order."""
    if limit is None or limit >= len(texts):
        return list(texts)
    return [texts[place] for place in sorted(random.Random(seed).sample(range(len(texts)), limit))]


def print_urban(
    rows: Sequence[tuple[str, Scores]], prices: Prices, head: str = "method", title: str = "extraction"
) -> None:
    """The stages of each row with their intervals, entities that are not in the text, and the expenses."""
    columns = (
        head, "stage", "precision", "with named kinds", "recall", "right / told / gold", "named", "unsaid",
        "made up", "OC", "types", "failed", *expenses_heads(prices),
    )  # fmt: skip
    lines: list[tuple[str, ...]] = []
    for name, scores in rows:
        size = f"{name} ({scores.texts})"
        cost = expenses_cells(scores.cost, scores.texts, prices)
        stages = {
            "model": scores.model,
            "pipeline": scores.pipeline,
            "gate": scores.gate,
            "its relations": scores.relations,
            "its kinds": scores.kinds,
        }
        for place, (stage, found) in enumerate(stages.items()):
            if found is None:
                continue
            last = stage == "gate"
            lines.append((
                size, stage, cell(found.precision), cell(found.supported),
                cell(found.recall), f"{found.right} / {found.told} / {found.gold}",
                str(found.named), str(scores.unsaid) if last else "",
                f"{len(scores.made_up)} of {scores.entities}" if last else "",
                "" if place else _share(scores.conformance), "" if place else str(scores.relation_types),
                "" if place else str(scores.failed),
                *("" if place else part for part in cost),
            ))  # fmt: skip
    title = f"{title}: strict, micro; beside it the precision where kinds that a name says are right"
    print_report(title, columns, lines)
    for made_up in dict.fromkeys(made_up for _, scores in rows for made_up in scores.made_up):
        stderr.print(f"accepted, but not in the text: {made_up}", markup=False)


def _share(found: float | None) -> str:
    return "-" if found is None else f"{found:.3f}"
