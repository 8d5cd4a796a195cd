"""`urbankg extract FILE...`: records of places from files, cleaned, into the graph."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from extractors.sources.mapping import Mapping, read_mapping
from extractors.sources.reading import read_sources
from extractors.sources.record import BrokenRecord, SourceRecord
from extractors.sources.report import CleaningReport
from extractors.sources.rules import Cleaner, Rules
from geo.formats.literals import write_geometry
from server.cli.invocation import on_either
from server.cli.output import stderr
from server.cli.running_server import RunningServer
from server.intake.sources import Counts, SourceIntake
from server.services import Services
from server.settings import Settings

_AT_ONCE = 4


def extract_files(
    settings: Settings, files: list[Path], *, mapping: Path | None, limit: int | None, commit: bool
) -> None:
    """Extract from the records of files; one line of JSON each, the reports on standard error."""
    languages = tuple(filter(None, (code.strip() for code in settings.language.split(","))))
    read = read_mapping(mapping, languages) if mapping else Mapping(rules=Rules(languages=languages))
    work = _Work(files, read, limit)

    def through_server(server: RunningServer) -> int:
        for record in work.records():
            message = {"records": [_message(record)], "clean": False, "commit": commit}
            work.add(server.post("/sources", message)["records"][0] | {"record": record.place})
        return work.finish()

    async def here(services: Services) -> int:
        intake = SourceIntake(services)
        records = work.records()

        async def take_next() -> None:
            for record in records:
                work.add((await intake.take(record, commit=commit)).json())

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(_AT_ONCE):
                    group.create_task(take_next())
        except ExceptionGroup as failed:
            work.finish()
            raise failed.exceptions[0] from None
        return work.finish()

    on_either(settings, through_server, here)


class _Work:
    """The records of files after cleaning, and the reports about them."""

    def __init__(self, files: Iterable[Path], mapping: Mapping, limit: int | None) -> None:
        self._files = tuple(files)
        self._mapping = mapping
        self._limit = limit
        self.report = CleaningReport()
        self.counts = Counts()

    def records(self) -> Iterator[SourceRecord]:
        """The records to extract from, after cleaning."""
        cleaner = Cleaner(self._mapping.rules)
        for one in islice(read_sources(self._files, self._mapping), self._limit):
            if isinstance(one, BrokenRecord):
                self.report.add_broken(one)
                continue
            cleaned = cleaner.clean(one)
            self.report.add(cleaned)
            if cleaned.record.text or cleaned.kept_place:
                yield cleaned.record

    def add(self, answer: dict[str, Any]) -> None:
        """Count and print the result of a record."""
        self.counts.add(answer)
        typer.echo(json.dumps(answer, ensure_ascii=False))

    def finish(self) -> int:
        """Print both reports; 1 when something was refused, failed or was not readable."""
        counts = self.counts
        lines = [
            *self.report.lines(),
            f"{counts.records} records taken in: {counts.features} places, {counts.texts} texts; "
            f"{counts.accepted} statements accepted, {counts.refused} refused, {counts.derived} derived",
            *(f"text not worked on: {failure}" for failure in counts.failures),
        ]
        for line in lines:
            stderr.print(line, markup=False, soft_wrap=True)
        return 1 if counts.refused or counts.failures or self.report.broken_count else 0


def _message(record: SourceRecord) -> dict[str, Any]:
    """A record as `POST /sources` takes it."""
    return {
        "kind": record.kind.value,
        "name": record.name,
        "type": record.type,
        "class": record.iri_class,
        "text": record.text,
        "geometry": None if record.geometry is None else write_geometry(record.geometry).value,
        "rating": record.rating,
        "url": record.url or record.place,
        "id": record.identifier,
    }
