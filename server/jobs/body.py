"""Reads documents from a request's body or from files into a job, in portions."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from server.errors import MalformedBody, ServerError, UnsupportedBody
from server.http.bodies.content_coding import unpacked
from server.http.bodies.multipart import boundary_of, read_parts
from server.jobs.job import Job, JobRequest
from server.jobs.record import BY_SUFFIX, BY_TYPE, LONGEST_WORD, Record, RecordReader
from server.jobs.store import JobStore

FORM = "multipart/form-data"
_RECORDS_A_PORTION = 500
_CHARACTERS_A_PORTION = 1_000_000
_VAGUE = ("", "application/octet-stream")


def records_of_body(
    body: IO[bytes], content_type: str, coding: str, *, longest: int, limit: int
) -> Iterator[Record]:
    """The documents of a body by its headers.

    Raises `UnsupportedBody` (also for a part of a form), `BodyTooLarge`, `MalformedBody`, `RecordUnreadable`
    and `RecordTooLong`.
    """
    with unpacked(body, coding, limit) as content:
        yield from _records(content, content_type, longest)


def _records(content: IO[bytes], content_type: str, longest: int) -> Iterator[Record]:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != FORM:
        yield from _reader(kind)(content, longest)
        return
    for part in read_parts(content, boundary_of(content_type)):
        kind = (part.content_type or "").partition(";")[0].strip().lower()
        reader = BY_SUFFIX.get(Path(part.filename or "").suffix.lower()) if kind in _VAGUE else None
        if len(part.filename or "") > LONGEST_WORD:
            raise MalformedBody(f"The name of a file is longer than {LONGEST_WORD} characters. Shorten it.")
        for record in (reader or _reader(kind))(part.body, longest):
            yield Record(record.text, record.name or part.filename, record.source)


def records_of_files(paths: Sequence[Path], *, longest: int) -> Iterator[Record]:
    """The documents of files, by the endings of their names; .gz is unpacked.

    Raises `ServerError` that names the file.
    """
    for path in paths:
        reader = reader_of(path)
        try:
            with _opened(path) as stream:
                for record in reader(stream, longest):
                    yield Record(record.text, record.name or path.name, record.source)
        except (OSError, EOFError, zlib.error) as error:
            raise ServerError(f"{path} cannot be read: {error}. Give a complete, readable file.") from error
        except ServerError as error:
            raise ServerError(f"{path}: {error}") from error


def reader_of(path: Path) -> RecordReader:
    """The reader for a file. Raises `ServerError` for an unknown format."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    reader = BY_SUFFIX.get(plain.suffix.lower())
    if reader is None:
        raise ServerError(
            f"{path} has an unknown format. Give files that end in one of: {', '.join(BY_SUFFIX)}."
        )
    return reader


def accept(store: JobStore, request: JobRequest, records: Iterable[Record]) -> Job:
    """Make a job of documents. It starts when all of them are on the disk, or is not made at all."""
    if (known := store.requested()) is not None:
        return known
    job = store.begin(request)
    try:
        portion: list[Record] = []
        characters = count = 0
        for record in records:
            portion.append(record)
            characters += len(record.text)
            if len(portion) >= _RECORDS_A_PORTION or characters >= _CHARACTERS_A_PORTION:
                store.add(job, portion, count + 1)
                count += len(portion)
                portion, characters = [], 0
        store.add(job, portion, count + 1)
    except BaseException:
        store.drop(job)
        raise
    return store.accept(job, paused=request.paused)


def _reader(kind: str) -> RecordReader:
    reader = BY_TYPE.get(kind)
    if reader is None:
        raise UnsupportedBody(kind, ", ".join((*BY_TYPE, FORM)))
    return reader


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
        yield stream  # type: ignore[misc]
