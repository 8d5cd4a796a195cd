"""Measures an adapter on instructions that it never saw: the loss, and what it answers, by kind of turn.

Answers are generated from the same tokens as in training, greedily and without a schema, so that a reply that
is not in the form counts against the adapter.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import torch

from extractors.completion.completer import read_answer
from extractors.errors import ModelReplyError
from extractors.models.chat import Reply
from extractors.prompting.reply import is_faithful, parse
from research.training.dataset import Example
from research.training.lora import Tuner

_SPARE_TOKENS: Final = 32
_TRIPLES: Final = frozenset({"RTE triples", "RTE update"})


@dataclass
class Answers:
    """How the answers of one kind of turn compare with the teacher's.

    `exact`: the same triples, the same relation, the same verdict, or the same words where an answer is in
    words. `right`, `given` and `wanted` count triples, `unreadable` the answers that hold no list of them.
    `examples` have a loss, `answered` were generated.
    """

    examples: int = 0
    loss: float = math.nan
    answered: int = 0
    exact: int = 0
    unreadable: int = 0
    right: int = 0
    given: int = 0
    wanted: int = 0

    def json(self) -> dict[str, Any]:
        """The counts, the share of exact answers, and the scores of triples where there are any."""
        found: dict[str, Any] = {
            "examples": self.examples,
            "loss": self.loss,
            "answered": self.answered,
            "exact": round(self.exact / max(1, self.answered), 4),
        }
        if self.wanted or self.given:
            precision, recall = self.right / max(1, self.given), self.right / max(1, self.wanted)
            found |= {
                "precision": round(precision, 4),
                "recall": round(recall, 4),
                "f1": round(2 * self.right / (self.given + self.wanted), 4),
                "triples": self.wanted,
                "unreadable": self.unreadable,
            }
        return found


def measure_answers(
    tuner: Tuner,
    examples: Sequence[Example],
    *,
    until: float = math.inf,
    most: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, dict[str, Any]]:
    """Compute the losses, then generate answers in turn of the kinds, until there are `most` or time is up.

    Gives the figures by kind of turn, with the lengths of what was given.
    """
    rows = tuner.rows(examples)
    found = {kind: Answers() for kind in rows.lengths}
    for row in rows.rows:
        found[row.kind].examples += 1
    for kind, loss in tuner.validate(rows.rows).items():
        found[kind].loss = loss
    answered = 0
    for example in _by_turns(examples, tuner.settings.seed):
        if clock() >= until or (most is not None and answered >= most):
            tell(f"{answered} of {len(examples)} held-out answers were generated, as far as time allowed")
            break
        question, wanted = tuner.dialogs.cut(example.dialog, example.answer)
        if len(question) + len(wanted) > min(tuner.settings.longest_dialog, tuner.base.context):
            continue
        _count(found[example.kind], example, _generated(tuner, question, len(wanted), until, clock))
        answered += 1
    return {
        kind: answers.json() | {"left_out": rows.lengths[kind].left_out} for kind, answers in found.items()
    }


def _by_turns(examples: Sequence[Example], seed: int) -> Iterable[Example]:
    """The examples drawn at random, one of each kind in turn."""
    waiting: dict[str, list[Example]] = {}
    for example in Random(seed).sample(examples, len(examples)):
        waiting.setdefault(example.kind, []).append(example)
    while waiting:
        for kind in [*waiting]:
            yield waiting[kind].pop()
            if not waiting[kind]:
                del waiting[kind]


def _generated(
    tuner: Tuner, question: Sequence[int], wanted: int, until: float, clock: Callable[[], float]
) -> str:
    ids = torch.tensor([question], device=tuner.device)
    tuner.model.eval()
    written = tuner.model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=2 * wanted + _SPARE_TOKENS,
        max_time=None if math.isinf(until) else max(0.1, until - clock()),
        do_sample=False,
        eos_token_id=tuner.dialogs.end,
        pad_token_id=tuner.dialogs.end,
    )
    text: str = tuner.dialogs.tokenizer.decode(written[0, len(question) :], skip_special_tokens=True)
    return text


def _count(answers: Answers, example: Example, said: str) -> None:
    answers.answered += 1
    if example.kind in _TRIPLES:
        wanted, given = _triples(example.answer) or frozenset(), _triples(said)
        answers.unreadable += given is None
        answers.right += len(wanted & (given or frozenset()))
        answers.given += len(given or ())
        answers.wanted += len(wanted)
        answers.exact += wanted == given
    else:
        answers.exact += _meaning(example.kind, said) == _meaning(example.kind, example.answer)


def _reply(text: str) -> Reply:
    return Reply(text, "stop", 0, 0, 0.0, "", None)


def _triples(text: str) -> frozenset[tuple[str, ...]] | None:
    try:
        parsed = parse(_reply(text))
    except ModelReplyError:
        return None
    return frozenset(
        tuple(" ".join(end.casefold().split()) for end in (one.subject, one.relation, one.object))
        for one in parsed.triples
    )


def _meaning(kind: str, text: str) -> Any:
    """What is compared of an answer that is no list of triples."""
    if kind.endswith(" verify"):
        return is_faithful(text)
    if kind == "KGC answer":
        try:
            return read_answer(_reply(text))
        except ModelReplyError:
            return text
    if kind in ("KGC tools", "plan"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return " ".join(text.split())


def table_of(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures as a table in Markdown."""
    lines = [
        "| turn | examples | loss | answered | exact | precision | recall | F1 | unreadable | too long |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for kind, one in figures.items():
        cells = [one["examples"], one["loss"], one["answered"], one["exact"]]
        cells += [one.get(name, "") for name in ("precision", "recall", "f1", "unreadable")]
        lines.append(f"| {kind} | " + " | ".join(str(cell) for cell in [*cells, one["left_out"]]) + " |")
    return "\n".join(lines)
