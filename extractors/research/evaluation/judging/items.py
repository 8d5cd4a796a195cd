"""What there is to judge, as a table that people fill in and that is read back."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from extractors.errors import EvaluationError

__all__ = ["COLUMNS", "Item", "Judgment", "items_of", "read_judgments", "write_table"]

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
