"""Completion: the model's relation of two places against the computed one, mode by mode on one model.

Modes and ablations are those of UrbanKGent, section 5.1.2. Every answer is written down as it comes, so a run
that was stopped goes on.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import shapely

from extractors.completion.completer import Completer, Completion, CompletionSettings, refusal_of
from extractors.completion.pair import Pair, Place, call_fitting_tools, described, results_of
from extractors.errors import EvaluationError, MethodUnsupported, ModelTimeout
from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel, PromptProfile
from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Cost, costs, total, turn_json
from extractors.sources.mapping import folded, plain_text, read_shape
from extractors.sources.records import BrokenRecord, Row, rows_of
from geo.errors import GeoError
from geo.relate.rcc8 import RCC5
from research.estimates import Estimate, cell, estimate_json, ratio
from research.judging.tables import Item, write_page, write_table
from research.reporting import (
    digest_of,
    expenses_cells,
    expenses_heads,
    expenses_json,
    model_identity,
    progress_of,
    write_json,
)
from research.run_folder import RunFolder
from server.cli.output import print_report, stderr
from server.intake.language_model import deferred_model
from server.settings import Settings

_PLAIN: Final = CompletionSettings(knowledge=False, thinking=False, tools=False, rounds=0)
_WHOLE: Final = CompletionSettings()

#: From the bare question to the whole pipeline. "without pipeline" has the definitions and reasons, but has
#: neither tools nor a verifier.
MODES: Final[Mapping[str, CompletionSettings]] = {
    "zero-shot": _PLAIN,
    "1-shot": replace(_PLAIN, shots=1),
    "3-shot": replace(_PLAIN, shots=3),
    "without pipeline": CompletionSettings(tools=False, rounds=0),
    "pipeline": _WHOLE,
}

#: The pipeline without one of its parts. Views are a matter of text; completion has none to leave out.
ABLATIONS: Final[Mapping[str, CompletionSettings]] = {
    "no knowledge": replace(_WHOLE, knowledge=False),
    "no tools": replace(_WHOLE, tools=False),
    "no refinement": replace(_WHOLE, rounds=0),
}


def settings_of_mode(name: str) -> CompletionSettings:
    """The settings of a mode or ablation. Raises EvaluationError for a name that there is not."""
    known = {**MODES, **ABLATIONS}
    if name not in known:
        raise EvaluationError(f"There is no mode '{name}'. Take one of {', '.join(known)}.")
    return known[name]


def refusal_of_mode(name: str, profile: PromptProfile) -> str | None:
    """Why models of this kind are known not to follow a mode; None where they may."""
    return refusal_of(settings_of_mode(name), profile)


@dataclass(frozen=True)
class NumberedPair:
    """A pair with the place of its file where it stands; `identifier` is the same for the same pair."""

    identifier: str
    place: str
    pair: Pair


def read_pairs(paths: Iterable[Path]) -> Iterator[NumberedPair | BrokenRecord]:
    """The pairs of files in order; what cannot be read, or has no geometry to compute from, is reported.

    A row is `{"head": {"name", "type", "geometry"}, "tail": {...}}`, or has fields such as `head name`,
    `head type` and `head geometry value`. Raises SourceError where a file as a whole cannot be read.
    """
    for path in paths:
        for row in rows_of(path):
            yield row if isinstance(row, BrokenRecord) else _pair(row)


def pairs_among(triples: Iterable[ReplyTriple], places: Mapping[str, Place]) -> list[NumberedPair]:
    """The pairs that extracted triples relate and that both have a geometry, each once (UrbanKGent, 3.1).

    `places` are by their names, whose case does not matter.
    """
    known = {folded(name): place for name, place in places.items() if place.geometry is not None}
    found: dict[frozenset[str], NumberedPair] = {}
    for triple in triples:
        ends = [folded(triple.subject), folded(triple.object)]
        if len(set(ends)) == 2 and all(end in known for end in ends):
            pair = Pair(*(known[end] for end in ends))
            found.setdefault(frozenset(ends), NumberedPair(_identifier(pair), "", pair))
    return list(found.values())


def choose(pairs: Sequence[NumberedPair], limit: int | None, seed: int) -> list[NumberedPair]:
    """So many pairs, drawn uniformly, in the order of the files. Raises EvaluationError without any."""
    if not pairs:
        raise EvaluationError("There are no pairs with two geometries: name files that hold some.")
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = sorted(random.Random(seed).sample(range(len(pairs)), limit))
    return [pairs[place] for place in chosen]


def _pair(row: Row) -> NumberedPair | BrokenRecord:
    values = {folded(name): value for name, value in row.values.items() if isinstance(name, str)}
    try:
        head, tail = _place("head", values), _place("tail", values)
    except (GeoError, shapely.GEOSException, ValueError) as error:
        return BrokenRecord(row.place, str(error))
    pair = Pair(head, tail)
    return NumberedPair(_identifier(pair), row.place, pair)


def _identifier(pair: Pair) -> str:
    shapes = ((place.name, place.geometry) for place in (pair.head, pair.tail))
    parts = (part for name, shape in shapes for part in (name, "" if shape is None else shape.wkb_hex))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _place(side: str, values: Mapping[str, Any]) -> Place:
    given = values.get(side)
    if isinstance(given, dict):
        fields = {folded(str(name)): value for name, value in given.items()}
    else:
        start = f"{side} "
        fields = {name.removeprefix(start): value for name, value in values.items() if name.startswith(start)}
    name, kind = (
        plain_text(_first(fields, one)) for one in (("name", "entity name"), ("type", "entity type"))
    )
    value = _first(fields, ("geometry", "geometry value", "wkt"))
    geometry = None if value is None else read_shape(value)
    if geometry is None:
        raise ValueError(f"the {side} has no geometry, and no relation can be computed without")
    return Place(name.replace("_", " "), kind, geometry)


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


@dataclass(frozen=True)
class Answered:
    """What was said of one pair; `relation` is None where no usable answer came."""

    truth: RCC5
    relation: RCC5 | None
    cost: Cost = field(default_factory=Cost)
    rounds: int = 0
    faithful: bool = False
    tools: int = 0
    error: str | None = None


@dataclass(frozen=True)
class Scores:
    """Of one way to answer. `five` takes IN either way round, `directed` also asks which place is inside.

    `found` counts for each relation the pairs that have it and those of them that were answered so.
    """

    name: str
    pairs: int
    five: Estimate | None
    directed: Estimate | None
    found: dict[RCC5, tuple[int, int]]
    said: Counter[str]
    failed: int = 0
    faithful: int = 0
    tools: int = 0
    cost: Cost = field(default_factory=Cost)

    def json(self) -> dict[str, Any]:
        """The scores as JSON."""
        return {
            "pairs": self.pairs,
            "five": estimate_json(self.five),
            "directed": estimate_json(self.directed),
            "relations": {
                relation.value: {"pairs": count, "right": right}
                for relation, (count, right) in self.found.items()
            },
            "answers": dict(self.said),
            "failed": self.failed,
            "faithful": self.faithful,
            "tool_calls": self.tools,
        }


def score(name: str, answers: Sequence[Answered], *, seed: int = 0) -> Scores:
    """Score the answers to the same pairs in the same order."""
    ones = [1.0] * len(answers)
    of_five = [float(_plain(one.relation) == _plain(one.truth)) for one in answers]
    directed = [float(one.relation is one.truth) for one in answers]
    found = {
        relation: (
            sum(one.truth is relation for one in answers),
            sum(one.truth is relation and one.relation is relation for one in answers),
        )
        for relation in RCC5
    }
    return Scores(
        name,
        len(answers),
        ratio(of_five, ones, seed=seed) if answers else None,
        ratio(directed, ones, seed=seed) if answers else None,
        found,
        Counter(one.relation.value if one.relation else "none" for one in answers),
        failed=sum(one.relation is None for one in answers),
        faithful=sum(one.faithful for one in answers),
        tools=sum(one.tools for one in answers),
        cost=sum((one.cost for one in answers), Cost()),
    )


def baselines(truths: Sequence[RCC5], *, seed: int = 0) -> list[Scores]:
    """What answering DC always scores, and the most frequent relation where that is another one."""
    most = Counter(truths).most_common(1)[0][0]
    always = list(dict.fromkeys((RCC5.DC, most)))
    return [
        score(f"always {one.value}", [Answered(truth, one) for truth in truths], seed=seed) for one in always
    ]


def _plain(relation: RCC5 | None) -> RCC5 | None:
    return RCC5.IN if relation is RCC5.INi else relation


async def answer_all(
    pairs: Sequence[NumberedPair],
    completer: Completer,
    file: Path,
    *,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> list[Answered]:
    """Ask about every pair that the file has no answer to yet.

    A pair for which the model was too slow has failed, and is asked about again the next time. Raises
    `ModelUnavailable`; what was answered before is in the file.
    """
    known = _known(file)
    answers = []
    for number, one in enumerate(pairs):
        tell(number, len(pairs))
        truth = one.pair.computed
        assert truth is not None
        row = known.get(one.identifier)
        if row is None:
            try:
                row = _row(one, truth, await completer.complete(one.pair))
            except ModelTimeout as error:
                answers.append(Answered(truth, None, error=str(error)))
                continue
            with file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        answers.append(_answered(truth, row))
    tell(len(pairs), len(pairs))
    return answers


def _row(one: NumberedPair, truth: RCC5, done: Completion) -> dict[str, Any]:
    return {
        "id": one.identifier,
        "pair": one.place,
        "head": one.pair.head.name,
        "tail": one.pair.tail.name,
        "computed": truth.value,
        "said": done.relation.value if done.relation else None,
        "error": done.error,
        "rounds": done.rounds,
        "faithful": done.faithful,
        "tools": [{"tool": call.tool, "result": call.result} for call in done.tools],
        "cost": total(costs(done.turns).values()).json(),
        "turns": [turn_json(turn) for turn in done.turns],
    }


def _answered(truth: RCC5, row: dict[str, Any]) -> Answered:
    return Answered(
        truth,
        RCC5(row["said"]) if row["said"] else None,
        Cost(**row["cost"]),
        rounds=row["rounds"],
        faithful=row["faithful"],
        tools=len(row["tools"]),
        error=row["error"],
    )


def _known(file: Path) -> dict[str, dict[str, Any]]:
    """The answers that are there; a line that was cut off when a run ended is taken out."""
    if not file.is_file():
        return {}
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with file.open("r+b") as stream:
            stream.truncate(whole)
    rows = (json.loads(line) for line in content[:whole].splitlines() if line.strip())
    return {row["id"]: row for row in rows}


_VERTICES: Final = 60
_WORDS: Final = {
    RCC5.DC: "is disconnected from (DC)",
    RCC5.EC: "only touches (EC)",
    RCC5.PO: "partially overlaps (PO)",
    RCC5.EQ: "equals (EQ)",
    RCC5.IN: "lies in (IN)",
    RCC5.INi: "contains (IN, the other way round)",
}


def followed_modes(settings: Settings, modes: Sequence[str], *, try_all: bool) -> Sequence[str]:
    """The modes to run, those of the default where none is given.

    Raises MethodUnsupported for one that the model is known not to follow, unless `try_all`, and
    EvaluationError for a name that there is not.
    """
    profile = deferred_model(settings).prompt_profile
    if not modes:
        return ("zero-shot", "3-shot") if profile == "compact" and not try_all else ("pipeline", "no tools")
    for name in modes:
        if (refusal := refusal_of_mode(name, profile)) and not try_all:
            raise MethodUnsupported(f"{name}: {refusal} Or have it tried with --try-all.")
    return modes


async def measure_completion(
    settings: Settings,
    files: Sequence[Path],
    modes: Sequence[str],
    out: Path,
    *,
    limit: int | None,
    seed: int,
    prices: Prices,
    model: ChatModel | None = None,
) -> list[Scores]:
    """Run the modes one after the other, and write the scores beside the answers.

    A given model is used instead of that of the settings, and stays open.
    """
    chosen = {name: settings_of_mode(name) for name in modes}
    drawn = choose(list(_usable(files)), limit, seed)
    truths = [truth for one in drawn if (truth := one.pair.computed) is not None]
    scores = baselines(truths, seed=seed)
    RunFolder(out, {"benchmark": "completion", "model": model_identity(settings), "files": digest_of(files)})
    asked = model or deferred_model(settings)
    try:
        for name, how in chosen.items():
            completer = Completer(asked, replace(how, prompts=settings.prompts))
            prompts = hashlib.sha256(completer.prompt_version.encode()).hexdigest()[:8]
            file = out / f"{name.replace(' ', '-')}-{prompts}.jsonl"
            with progress_of(name, len(drawn)) as tell:
                answers = await answer_all(drawn, completer, file, tell=tell)
            scores.append(score(name, answers, seed=seed))
            _for_people(out, name, drawn, answers)
    finally:
        if model is None:
            await asked.close()
    rows = {one.name: {**one.json(), **expenses_json(one.cost, one.pairs, prices)} for one in scores}
    write_json(out / "completion.json", {"seed": seed, "modes": rows})
    return scores


def _for_people(out: Path, mode: str, pairs: Sequence[NumberedPair], answers: Sequence[Answered]) -> None:
    """The relations answered in a mode, to judge by the geometries and what the tools say of them."""
    items = [
        Item(
            one.identifier,
            f"A: {described(one.pair.head, _VERTICES)}\nB: {described(one.pair.tail, _VERTICES)}\n"
            f"Results of tools:\n{results_of(call_fitting_tools(one.pair))}",
            f"A ({one.pair.head.name})",
            _WORDS[answer.relation],
            f"B ({one.pair.tail.name})",
        )
        for one, answer in zip(pairs, answers, strict=True)
        if answer.relation is not None
    ]
    name = mode.replace(" ", "-")
    write_table(out / f"judge-{name}.csv", items)
    write_page(out / f"judge-{name}.html", items, f"{len(items)} relations, {mode}")


def _usable(files: Sequence[Path]) -> list[NumberedPair]:
    pairs = []
    for one in read_pairs(files):
        if isinstance(one, BrokenRecord):
            stderr.print(f"not usable: {one.place}: {one.reason}", markup=False)
        else:
            pairs.append(one)
    return pairs


def print_completion(scores: Sequence[Scores], prices: Prices) -> None:
    """The table of modes, with the baselines on top."""
    counts = {relation: scores[0].found[relation][0] for relation in RCC5}
    heads = [f"{relation.value} ({count})" for relation, count in counts.items() if count]
    costs = expenses_heads(prices)
    columns = ("mode", "right of five", "with direction", *heads, "no answer", "faithful", *costs)
    rows = []
    for one in scores:
        by = [str(one.found[relation][1]) for relation, count in counts.items() if count]
        rows.append((
            one.name, cell(one.five), cell(one.directed), *by, str(one.failed), str(one.faithful),
            *expenses_cells(one.cost, one.pairs, prices),
        ))  # fmt: skip
    title = f"Completion: {scores[0].pairs} pairs; the computed relation is the truth; right by relation"
    print_report(title, columns, rows)
