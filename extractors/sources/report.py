"""The report of a cleaning: counts per rule, with examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from extractors.sources.record import BrokenRecord
from extractors.sources.rules import CleanRecord

__all__ = ["CleaningReport", "Example"]

_EXCERPT = 100


@dataclass(frozen=True)
class Example:
    """Where something was dropped, and what it was."""

    place: str
    excerpt: str


@dataclass
class CleaningReport:
    """Counts, and the first `examples` of each: texts dropped by rule, texts stripped, records not read."""

    examples: int = 3
    records: int = 0
    texts: int = 0
    places: int = 0
    repeated: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    stripped: Counter[str] = field(default_factory=Counter)
    broken: list[BrokenRecord] = field(default_factory=list)
    broken_count: int = 0
    shown: dict[str, list[Example]] = field(default_factory=dict)

    def add(self, one: CleanRecord) -> None:
        """Count a record that was read."""
        self.records += 1
        self.texts += bool(one.record.text)
        self.places += one.kept_place
        self.repeated += one.repeated
        if one.dropped is not None:
            self.dropped[one.dropped.value] += 1
            self._show(one.dropped.value, one)
        for name in one.stripped:
            self.stripped[name] += 1
            self._show(f"stripped {name}", one)

    def add_broken(self, one: BrokenRecord) -> None:
        """Count one that could not be read; the first hundred are kept with their reason."""
        self.broken_count += 1
        if len(self.broken) < 100:
            self.broken.append(one)

    def _show(self, rule: str, one: CleanRecord) -> None:
        held = self.shown.setdefault(rule, [])
        if len(held) < self.examples:
            words = " ".join(one.original.split()) or "(no text)"
            name = f"{one.record.name}: " if one.record.name else ""
            cut = words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"
            held.append(Example(one.record.place, name + cut))

    def lines(self) -> Iterator[str]:
        """The report for people."""
        yield (
            f"{self.records} records read, {self.broken_count} not readable; "
            f"{self.texts} texts and {self.places} places with geometry are used"
        )
        for rule, count in self.dropped.most_common():
            yield f"text dropped, {rule}: {count}"
            yield from self._examples(rule)
        for name, count in self.stripped.most_common():
            yield f"{name} stripped from: {count}"
            yield from self._examples(f"stripped {name}")
        if self.repeated:
            yield f"the same record again: {self.repeated}"
        for one in self.broken:
            yield f"not readable: {one.place}: {one.reason}"
        if self.broken_count > len(self.broken):
            yield f"... and {self.broken_count - len(self.broken)} more"

    def _examples(self, rule: str) -> Iterator[str]:
        return (f"    {one.place}: {one.excerpt}" for one in self.shown.get(rule, ()))

    def json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "records": self.records,
            "texts": self.texts,
            "places": self.places,
            "repeated": self.repeated,
            "dropped": dict(self.dropped),
            "stripped": dict(self.stripped),
            "not_readable": self.broken_count,
            "examples": {
                rule: [{"place": one.place, "excerpt": one.excerpt} for one in held]
                for rule, held in self.shown.items()
            },
            "broken": [{"place": one.place, "reason": one.reason} for one in self.broken],
        }
