"""Reads posted documents one at a time: JSON lines, JSON, CSV or plain text.

A record has a `text`, and may have a `name` (or an `id`), which its sender chose, and a `source`. Readers
hold one record in memory, however long the file is. Errors name the line on which the record begins.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from server.jobs.job import RecordTooLong, RecordUnreadable

_PIECE = 2**16
# An escaped character takes up to twelve bytes; the other members need space too.
_BYTES_A_CHARACTER = 12
_BESIDE_TEXT = 2**16
# An error this far from the end of what has been read is not caused by missing input.
_UNDECIDED = 64
LONGEST_WORD = 2000
_UNUSUAL = "the record nests too deep, or a number has too many digits."
_MARK = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class Record:
    """A document to extract from."""

    text: str
    name: str | None = None
    source: str | None = None


RecordReader = Callable[[IO[bytes], int], Iterator[Record]]
"""Reads the records of a stream, with texts of at most so many characters.

Raises `RecordUnreadable` and `RecordTooLong`.
"""


def json_lines(stream: IO[bytes], longest: int) -> Iterator[Record]:
    """One JSON object a line; empty lines are ignored."""
    for number, line in _lines(stream, longest):
        if line.strip():
            yield _record(_parsed(line, number), number, longest)


def json_items(stream: IO[bytes], longest: int) -> Iterator[Record]:
    """A JSON array of objects, or objects one after the other."""
    items = _Items(stream, longest)
    array = items.take("[")
    first = True
    while not items.at_end():
        if array and items.take("]"):
            if not items.at_end():
                raise RecordUnreadable(items.line, "something follows the end of the JSON array.")
            return
        if array and not first and not items.take(","):
            raise RecordUnreadable(items.line, "a comma or the array's end is missing here.")
        first = False
        line, value = items.next()
        yield _record(value, line, longest)
    if array:
        raise RecordUnreadable(items.line, "the JSON array is cut off: its closing bracket is missing.")


def csv_rows(stream: IO[bytes], longest: int) -> Iterator[Record]:
    """Rows with commas between the fields (RFC 4180); the first row names the columns."""
    csv.field_size_limit(max(csv.field_size_limit(), longest + 1))
    rows = csv.DictReader((line for _, line in _lines(stream, longest)), strict=True, restkey="")
    line = 1
    try:
        columns = rows.fieldnames or ()
        if "text" not in columns:
            found = ", ".join(columns) or "none"
            raise RecordUnreadable(1, f"there is no column 'text'; the columns are: {found}.")
        while True:
            line = rows.line_num + 1
            row = next(rows, None)
            if row is None:
                return
            if row.get(""):
                raise RecordUnreadable(line, "the row has more fields than there are columns.")
            yield _record(row, line, longest)
    except csv.Error as error:
        if "limit" in str(error):
            raise RecordTooLong(line, longest) from error
        raise RecordUnreadable(line, f"the row is not CSV: {error}.") from error


def plain_text(stream: IO[bytes], longest: int) -> Iterator[Record]:
    """The whole file as one document."""
    content = stream.read(4 * longest + 4)
    text = _decoded(content.removeprefix(_MARK), 1)
    if len(text) > longest:
        raise RecordTooLong(1, longest)
    yield Record(text)


BY_TYPE: Mapping[str, RecordReader] = {
    "application/x-ndjson": json_lines,
    "application/jsonl": json_lines,
    "application/x-jsonlines": json_lines,
    "application/json": json_items,
    "text/csv": csv_rows,
    "text/plain": plain_text,
}
"""The reader for each media type."""
BY_SUFFIX: Mapping[str, RecordReader] = {
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".json": json_items,
    ".csv": csv_rows,
    ".txt": plain_text,
    ".md": plain_text,
}
"""The reader for each ending of a file's name."""


class _Items:
    """The JSON values of a stream, decoded as they come; `line` is the line of the next one."""

    def __init__(self, stream: IO[bytes], longest: int) -> None:
        self.line = 1
        self._longest = longest
        self._most = longest * _BYTES_A_CHARACTER // 2 + _BESIDE_TEXT
        self._lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        self._decoder = json.JSONDecoder()
        self._held = ""
        self._at = 0
        self._ended = False

    def at_end(self) -> bool:
        """Pass over white space; whether nothing follows it."""
        while True:
            space = _SPACE.match(self._held, self._at)
            self._pass_to(self._at if space is None else space.end())
            if self._at < len(self._held):
                return False
            if self._ended:
                return True
            self._read(_PIECE)

    def take(self, mark: str) -> bool:
        """Pass over a mark if it comes next."""
        if self.at_end() or not self._held.startswith(mark, self._at):
            return False
        self._pass_to(self._at + 1)
        return True

    def next(self) -> tuple[int, Any]:
        """The next value and the line on which it begins."""
        if self.at_end():
            raise RecordUnreadable(self.line, "the JSON array is cut off here.")
        line = self.line
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self._at)
            except json.JSONDecodeError as error:
                cut_off = error.pos >= len(self._held) - _UNDECIDED or "Unterminated" in error.msg
                if self._ended or not cut_off:
                    where = line + self._held.count("\n", self._at, error.pos)
                    raise RecordUnreadable(where, f"this is not JSON: {error.msg}.") from error
            except (RecursionError, ValueError) as error:
                raise RecordUnreadable(line, _UNUSUAL) from error
            else:
                self._pass_to(end)
                return line, value
            if len(self._held) - self._at > self._most:
                raise RecordTooLong(line, self._longest)
            self._read(max(_PIECE, len(self._held) - self._at))

    def _read(self, size: int) -> None:
        try:
            piece = self._lines.read(size)
        except UnicodeDecodeError as error:
            raise RecordUnreadable(self.line, "from here on something is not UTF-8.") from error
        self._ended = not piece
        self._held = self._held[self._at :] + piece
        self._at = 0

    def _pass_to(self, position: int) -> None:
        self.line += self._held.count("\n", self._at, position)
        self._at = position


def _lines(stream: IO[bytes], longest: int) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, none much longer than a record can be."""
    most = longest * _BYTES_A_CHARACTER + _BESIDE_TEXT
    number = 0
    while line := stream.readline(most + 1):
        number += 1
        if len(line) > most:
            raise RecordTooLong(number, longest)
        yield number, _decoded(line.removeprefix(_MARK) if number == 1 else line, number)


def _decoded(content: bytes, line: int) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordUnreadable(line, f"byte {error.start} is not UTF-8.") from error


def _parsed(text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordUnreadable(line, f"this is not JSON: {error.msg} at column {error.pos + 1}.") from error
    except (RecursionError, ValueError) as error:
        raise RecordUnreadable(line, _UNUSUAL) from error


def _record(value: Any, line: int, longest: int) -> Record:
    if not isinstance(value, Mapping):
        raise RecordUnreadable(line, 'a record is an object with a text: {"text": "..."}.')
    text = value.get("text")
    if not isinstance(text, str):
        raise RecordUnreadable(line, "the record has no 'text', or it is no string.")
    if len(text) > longest:
        raise RecordTooLong(line, longest)
    name = _word(value, "name", line) or _word(value, "id", line)
    record = Record(text, name, _word(value, "source", line))
    for part in (record.text, record.name, record.source):
        if part is not None and not part.isascii():
            _check_characters(part, line)
    return record


def _word(value: Mapping[str, Any], member: str, line: int) -> str | None:
    found = value.get(member)
    if found is None or found == "":
        return None
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        raise RecordUnreadable(line, f"'{member}' is neither a string nor a number.")
    if len(text := str(found)) > LONGEST_WORD:
        raise RecordUnreadable(line, f"'{member}' is longer than {LONGEST_WORD} characters.")
    return text


def _check_characters(text: str, line: int) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        # Nothing that stores or sends text takes it.
        raise RecordUnreadable(
            line, "a string holds half of a surrogate pair; escape both halves."
        ) from error
