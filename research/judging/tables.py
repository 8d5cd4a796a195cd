"""What there is to judge: a table and a page for people, read back, with their majority and agreement."""

from __future__ import annotations

import csv
import hashlib
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import StatisticsError, correlation
from typing import Any, Final

from extractors.errors import EvaluationError
from research.estimates import Estimate, estimate_json, ratio

COLUMNS: Final = (
    "id", "group", "context", "subject", "relation", "object", "quote", "judgement", "confidence", "judge",
)  # fmt: skip
# What a spreadsheet takes for a formula, and so for a program; an apostrophe says that it is text.
_FORMULA: Final = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_TRUE: Final = frozenset(("true", "t", "yes", "y", "1", "right", "correct", "wahr"))
_FALSE: Final = frozenset(("false", "f", "no", "n", "0", "wrong", "incorrect", "falsch"))


@dataclass(frozen=True)
class Item:
    """One claim and what it is judged by: a text, or two geometries. Items of a group have one context."""

    group: str
    context: str
    subject: str
    relation: str
    object: str
    quote: str = ""

    @property
    def identifier(self) -> str:
        """The same for the same claim about the same context."""
        content = "\0".join((self.group, self.context, self.subject, self.relation, self.object))
        return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:12]


@dataclass(frozen=True)
class Judgment:
    """Whether an item is true, in somebody's eyes; `confidence` from 0 to 1 where it was given."""

    item: Item
    verdict: bool
    judge: str
    confidence: float | None = None


def write_table(file: Path, items: Iterable[Item], judgments: Iterable[Judgment] = ()) -> None:
    """Write the items as CSV, a line each, with the judgments there are."""
    known = {one.item.identifier: one for one in judgments}
    with file.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for item in items:
            found = known.get(item.identifier)
            decision = ("", "", "")
            if found is not None:
                confidence = "" if found.confidence is None else f"{found.confidence:.2f}"
                decision = (str(found.verdict).lower(), confidence, found.judge)
            cells = (
                item.identifier, item.group, item.context, item.subject, item.relation, item.object,
                item.quote, *decision,
            )  # fmt: skip
            writer.writerow([_as_text(cell) for cell in cells])


def _as_text(cell: str) -> str:
    """The cell so that a spreadsheet shows what would be a formula; `_meant` undoes it."""
    return "'" + cell if _FORMULA.match(cell) else cell


def _meant(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def read_judgments(file: Path) -> list[Judgment]:
    """What was judged in a table; lines without a judgment are left out.

    The judge is the file's name where the column is empty. Raises EvaluationError with the line that cannot
    be read.
    """
    return [
        Judgment(item, verdict, row["judge"].strip() or file.stem, confidence)
        for number, row, item in _rows(file)
        if (verdict := _verdict(file, number, row["judgement"])) is not None
        for confidence in [_confidence(file, number, row["confidence"])]
    ]


def items_of(file: Path) -> list[Item]:
    """The items of a table, judged or not."""
    return [item for _, _, item in _rows(file)]


def _rows(file: Path) -> Sequence[tuple[int, dict[str, str], Item]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            sample = stream.readline()
            stream.seek(0)
            reader = csv.DictReader(stream, delimiter=max(",;\t", key=sample.count))
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise EvaluationError(
                    f"{file} has no column '{missing[0]}': give the judge.csv of `evaluate urban`."
                )
            rows = []
            for row in reader:
                cells = {name: _meant(row.get(name) or "") for name in COLUMNS}
                fields = (
                    cells[name] for name in ("group", "context", "subject", "relation", "object", "quote")
                )
                rows.append((reader.line_num, cells, Item(*fields)))
            return rows
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise EvaluationError(f"{file} cannot be read: {error}. Save it as CSV in UTF-8.") from error


def _verdict(file: Path, number: int, word: str) -> bool | None:
    plain = word.strip().casefold()
    if not plain or plain == "?":
        return None
    if plain in _TRUE or plain in _FALSE:
        return plain in _TRUE
    raise EvaluationError(
        f"{file}, line {number}: '{word}' is neither true nor false. Write one, or nothing."
    )


def _confidence(file: Path, number: int, word: str) -> float | None:
    if not word.strip():
        return None
    try:
        value = float(word.strip().replace(",", "."))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise EvaluationError(f"{file}, line {number}: '{word}' is no confidence from 0 to 1. Fix it.")
    return value


def write_page(file: Path, items: Sequence[Item], title: str) -> None:
    """Write the page. What is judged on it stays in the browser, for exactly these items, until saved."""
    rows = [
        {
            "id": item.identifier,
            "group": item.group,
            "context": item.context,
            "subject": item.subject,
            "relation": item.relation,
            "object": item.object,
            "quote": item.quote,
        }
        for item in items
    ]
    # Inside a script element only "<" could end it, or open a comment.
    data = json.dumps(rows, ensure_ascii=False).replace("<", "\\u003c")
    key = hashlib.sha256(data.encode("utf-8", "replace")).hexdigest()[:12]
    template = Path(__file__).with_name("judge.html").read_text("utf-8")
    before, _, after = template.partition("$items")
    filled = [part.replace("$title", html.escape(title)).replace("$key", key) for part in (before, after)]
    file.write_text(data.join(filled), encoding="utf-8")


@dataclass(frozen=True)
class Summary:
    """What one judge holds: true and false claims, and how many of each a group (a text) has."""

    judge: str
    judged: int
    true: int
    false: int
    groups: int
    precision: Estimate | None

    def json(self) -> dict[str, Any]:
        """The summary as JSON."""
        groups = self.groups or 1
        return {
            "judge": self.judge,
            "judged": self.judged,
            "true": self.true,
            "false": self.false,
            "true_per_text": round(self.true / groups, 3),
            "false_per_text": round(self.false / groups, 3),
            "precision": estimate_json(self.precision),
        }


@dataclass(frozen=True)
class Agreement:
    """Two judges on what both have judged.

    `same` is the share of equal verdicts, `kappa` that share beyond chance (Cohen), `rank` Spearman's
    correlation of the numbers of true claims by group; None where there is too little to tell.
    """

    one: str
    other: str
    items: int
    groups: int
    same: float | None
    kappa: float | None
    rank: float | None

    def json(self) -> dict[str, Any]:
        """The agreement as JSON."""
        return {
            "judges": [self.one, self.other],
            "items": self.items,
            "groups": self.groups,
            "same": _rounded(self.same),
            "kappa": _rounded(self.kappa),
            "spearman": _rounded(self.rank),
        }


def majority(judgments: Iterable[Judgment], judge: str = "majority") -> list[Judgment]:
    """What most judges hold of each item; a tie is no judgment. The confidence is the share of votes."""
    votes: dict[str, list[Judgment]] = defaultdict(list)
    for one in judgments:
        votes[one.item.identifier].append(one)
    found = []
    for held in votes.values():
        true = sum(one.verdict for one in held)
        if 2 * true != len(held):
            verdict = 2 * true > len(held)
            share = (true if verdict else len(held) - true) / len(held)
            found.append(Judgment(held[0].item, verdict, judge, share))
    return found


def summary(judge: str, judgments: Sequence[Judgment], *, seed: int = 0) -> Summary:
    """Count true and false; the interval draws groups anew, since claims of one text hang together."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for one in judgments:
        groups[one.item.group].append(one.verdict)
    true = sum(map(sum, groups.values()))
    precision = None
    if groups:
        precision = ratio([sum(v) for v in groups.values()], [len(v) for v in groups.values()], seed=seed)
    return Summary(judge, len(judgments), true, len(judgments) - true, len(groups), precision)


def agreement(one: Sequence[Judgment], other: Sequence[Judgment]) -> Agreement:
    """Compare two judges on the items that both have judged."""
    first = {found.item.identifier: found for found in one}
    second = {found.item.identifier: found for found in other}
    shared = [name for name in first if name in second]
    pairs = [(first[name].verdict, second[name].verdict) for name in shared]
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name in shared:
        counts[first[name].item.group][0] += first[name].verdict
        counts[first[name].item.group][1] += second[name].verdict
    left, right = [pair[0] for pair in counts.values()], [pair[1] for pair in counts.values()]
    same = sum(a is b for a, b in pairs) / len(pairs) if pairs else None
    return Agreement(
        one[0].judge if one else "", other[0].judge if other else "",
        len(shared), len(counts), same, _kappa(pairs, same), spearman(left, right),
    )  # fmt: skip


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """The rank correlation, ties having their mean rank; None for fewer than three, or all equal."""
    if len(left) < 3:
        return None
    try:
        return correlation(_ranks(left), _ranks(right))
    except StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    places: Mapping[float, list[int]] = defaultdict(list)
    for place, value in enumerate(sorted(values), 1):
        places[value].append(place)
    return [sum(places[value]) / len(places[value]) for value in values]


def _kappa(pairs: Sequence[tuple[bool, bool]], same: float | None) -> float | None:
    if same is None:
        return None
    a, b = (sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1))
    chance = a * b + (1 - a) * (1 - b)
    return None if chance == 1 else (same - chance) / (1 - chance)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
