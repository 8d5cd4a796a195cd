"""What texts only say (orders, quotations, plans, fiction) and what they state, up to the gate's verdict.

    python -m benchmarks.statements [--half second] [--replies FILE] [--limit N]

Every text of `tests/data/statements/` goes through the real intake with the embedded model, over an empty
graph, with and without the rules that separate the two; the model reads each text once. `--replies` keeps
its answers, so that another run needs no model. It prints the claims that were accepted although the text
does not state them, and the stated ones that the rules kept out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from unittest import mock

from extractors.candidates import RDF_TYPE, RDFS_LABEL
from extractors.grounding import mentions
from extractors.models.chat import BlankForm, FilledForm, FormModel, Message, Reply
from extractors.models.opening import open_model
from research.empty_graph import empty_graph, gated
from research.urban.gold import Extract, Gated
from server.settings_loading import load_settings

TEXTS = Path(__file__).resolve().parents[1] / "tests" / "data" / "statements"


class RecordedForms:
    """A model of forms that answers each form once and remembers the answer."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._answers: dict[str, FilledForm] = {}
        self._model: Any = None
        if file is not None and file.exists():
            self._answers = pickle.loads(file.read_bytes())

    @property
    def name(self) -> str:
        return "embedded"

    @property
    def prompt_profile(self) -> Literal["compact", "full"]:
        return "compact"

    async def complete(self, messages: Sequence[Message], **options: Any) -> Reply:
        raise NotImplementedError("Only forms are filled in here.")

    async def fill(self, form: BlankForm) -> FilledForm:
        key = repr(form)
        if key not in self._answers:
            self._model = self._model or open_model(None)
            assert isinstance(self._model, FormModel)
            self._answers[key] = await self._model.fill(form)
            if self._file is not None:
                self._file.write_bytes(pickle.dumps(self._answers))
        return self._answers[key]

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()
            self._model = None


@contextmanager
def without_rules() -> Iterator[None]:
    with mock.patch.dict(mentions.RULES, clear=True):
        yield


def accepted(row: dict[str, Any], found: Gated) -> bool:
    """Whether the gate accepted a relation that rests on the object of the claim."""
    assert found.accepted is not None
    triples = {(t.subject, t.predicate, t.object) for t in found.accepted}
    return any(
        (c.subject, c.predicate, c.object) in triples
        and c.predicate not in (RDF_TYPE, RDFS_LABEL)
        and c.evidence is not None
        and row["object"].casefold() in c.evidence.quote.casefold()
        for c in found.extraction.candidates
    )


async def measure(rows: Sequence[dict[str, Any]], extract: Extract) -> None:
    counts: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        with without_rules():
            before = accepted(row, await extract(row["text"]))
        found = await extract(row["text"])
        after = accepted(row, found)
        side = "stated" if row["stated"] else "not stated"
        counts[side] += 1
        counts[f"{side}, without"] += before
        counts[f"{side}, with"] += after
        counts[f"{side}, anything"] += bool(found.accepted)
        counts[f"{side}, lost"] += before and not after
        if after != row["stated"] and (after or before):
            print(f"{row['kind']:<12} {'lost' if row['stated'] else 'accepted'}: {row['text']!r}", flush=True)
        if number % 20 == 0:
            print(f"... {number} of {len(rows)}", flush=True)
    print(
        f"{counts['not stated']} claims that the text does not state: accepted without the rules "
        f"{counts['not stated, without']}, with them {counts['not stated, with']}; texts of which anything "
        f"at all was accepted: {counts['not stated, anything']}"
    )
    print(
        f"{counts['stated']} claims that the text states: accepted without the rules "
        f"{counts['stated, without']}, with them {counts['stated, with']}, lost {counts['stated, lost']}"
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=["develop", "held_out", "second"], default="second")
    parser.add_argument("--replies", type=Path)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    lines = (TEXTS / f"{options.half}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines][: options.limit]
    model = RecordedForms(options.replies)
    try:
        async with empty_graph(load_settings({}).settings, model) as services:
            await measure(rows, gated(services))
    finally:
        await model.close()


if __name__ == "__main__":
    asyncio.run(main())
