"""The scores of extraction against gold triples: of all statements, and of relations and kinds apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from extractors.prompting.prompt import IS_A
from extractors.readers.costs import Cost
from extractors.research.evaluation.estimates import Estimate, estimate_json, f1, ratio
from extractors.research.evaluation.rte import ScoredTriple, TextResult, Words

__all__ = ["Scores", "Stage", "score"]


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
