"""Reports of a check: its findings as text, JSON, Markdown and SARIF 2.1.0, and the OWL 2 profiles."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, Store, Triple

from ontology.checks.findings import Finding, Level, Rule
from ontology.schema import Schema

NOT_DL = Rule("not_owl_dl", Level.WARN, "The axioms go beyond OWL 2 DL, so a reasoner may refuse them.")


@dataclass(frozen=True)
class Profile:
    """One profile (OWL 2 Profiles); `outside` counts the offending axioms by their kind."""

    name: str
    holds: bool
    outside: Mapping[str, int]


def profiles(triples: Collection[Triple]) -> tuple[Profile, ...]:
    """The profiles DL, EL, QL and RL of an ontology's triples."""
    # Imported here: reports are written without it.
    from pyowl2_profiles import detect_profiles

    store = Store()
    store.extend(Quad(*triple) for triple in triples)
    found = detect_profiles(store, None)
    return tuple(
        Profile(name, bool(found[name]["in_profile"]), dict(found[name]["violations_by_axiom_type"]))
        for name in ("dl", "el", "ql", "rl")
    )


def lint_profile(schema: Schema, found: Collection[Profile]) -> tuple[Finding, ...]:
    """One finding when the files together are not in OWL 2 DL."""
    outside = next((one.outside for one in found if one.name == "dl" and not one.holds), None)
    if outside is None:
        return ()
    said = ", ".join(f"{kind} ({count})" for kind, count in sorted(outside.items()))
    file = schema.files[0].path if schema.files else None
    return (
        Finding(
            NOT_DL,
            f"Outside OWL 2 DL: {said}.",
            "Change these axioms if you want to reason; the server itself works with them.",
            file=file,
        ),
    )


_SARIF_LEVEL = {Level.ERROR: "error", Level.WARN: "warning", Level.INFO: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class ReportFormat(StrEnum):
    """The format of a report."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"


@dataclass(frozen=True)
class CheckReport:
    """All findings of one check, in order. `notes` say what was not checked, and why."""

    findings: tuple[Finding, ...]
    profiles: tuple[Profile, ...] = ()
    notes: tuple[str, ...] = ()

    def count(self, level: Level) -> int:
        """The number of findings of a level."""
        return Counter(finding.level for finding in self.findings)[level]

    @property
    def blocks(self) -> bool:
        """Whether a finding keeps the files from being put in force."""
        return any(one.level is Level.ERROR and one.rule.blocks for one in self.findings)

    def fails(self, at: Level) -> bool:
        """Whether there is a finding of this level or a more severe one."""
        worse = {Level.ERROR: (Level.ERROR,), Level.WARN: (Level.ERROR, Level.WARN), Level.INFO: tuple(Level)}
        return any(finding.level in worse[at] for finding in self.findings)

    def written(self, form: ReportFormat, *, root: Path | None = None) -> str:
        """The report in a format; files below `root` are written relative to it."""
        match form:
            case ReportFormat.TEXT:
                return "\n".join((*(_line(one, root) for one in self.findings), *self._summary()))
            case ReportFormat.JSON:
                return json.dumps(self.as_json(root=root), ensure_ascii=False, indent=2)
            case ReportFormat.MARKDOWN:
                return self._markdown(root)
            case ReportFormat.SARIF:
                return json.dumps(self._sarif(root), ensure_ascii=False, indent=2)

    def as_json(self, *, root: Path | None = None) -> dict[str, Any]:
        """The report as the HTTP routes give it."""
        return {
            "errors": self.count(Level.ERROR),
            "warnings": self.count(Level.WARN),
            "infos": self.count(Level.INFO),
            "findings": [
                {
                    "level": one.level.value,
                    "rule": one.rule.name,
                    "subject": one.subject or None,
                    "message": one.message,
                    "mend": one.fix,
                    "file": _shown(one.file, root) or None,
                    "line": one.line,
                }
                for one in self.findings
            ],
            "profiles": {one.name: {"holds": one.holds, "outside": one.outside} for one in self.profiles},
            "notes": list(self.notes),
        }

    def _summary(self) -> list[str]:
        lines = []
        for one in self.profiles:
            outside = ", ".join(f"{kind} ({count})" for kind, count in sorted(one.outside.items()))
            verdict = "yes" if one.holds else f"no, {outside}" if outside else "no, since it is not in DL"
            lines.append(f"OWL 2 {one.name.upper()}: {verdict}")
        counts = [f"{self.count(level)} {level.value}" for level in Level]
        return [*lines, *self.notes, ", ".join(counts)]

    def _markdown(self, root: Path | None) -> str:
        lines = ["| level | rule | where | what | fix |", "|---|---|---|---|---|"]
        for one in self.findings:
            cells = (one.level.value, f"`{one.rule.name}`", _place(one, root), _words(one), one.fix)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if not self.findings:
            lines = ["Nothing found."]
        return "\n".join((*lines, "", *(f"- {line}" for line in self._summary())))

    def _sarif(self, root: Path | None) -> dict[str, Any]:
        rules = list(dict.fromkeys(one.rule for one in self.findings))
        return {
            "$schema": _SCHEMA,
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {
                        "driver": {
                            "name": "urbankg check",
                            "rules": [
                                {
                                    "id": rule.name,
                                    "shortDescription": {"text": rule.summary},
                                    "defaultConfiguration": {"level": _SARIF_LEVEL[rule.level]},
                                }
                                for rule in rules
                            ],
                        }
                    },
                    "results": [_sarif_result(one, rules.index(one.rule), root) for one in self.findings],
                }
            ],
        }


def _sarif_result(finding: Finding, rule: int, root: Path | None) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule.name,
        "ruleIndex": rule,
        "level": _SARIF_LEVEL[finding.level],
        "message": {"text": f"{_words(finding)} {finding.fix}"},
    }
    if finding.file is not None:
        shown = _shown(finding.file, root)
        uri = Path(shown).as_posix() if not Path(shown).is_absolute() else Path(shown).as_uri()
        place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
        if finding.line is not None:
            place["region"] = {"startLine": finding.line}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _line(finding: Finding, root: Path | None) -> str:
    place = _place(finding, root)
    start = f"{finding.level:5} {finding.rule.name}: " + (f"{place}: " if place else "")
    return f"{start}{_words(finding)} {finding.fix}"


def _words(finding: Finding) -> str:
    return f"<{finding.subject}> {finding.message}" if finding.subject else finding.message


def _place(finding: Finding, root: Path | None) -> str:
    if finding.file is None:
        return ""
    return _shown(finding.file, root) + (f":{finding.line}" if finding.line is not None else "")


def _shown(file: Path | None, root: Path | None) -> str:
    if file is None:
        return ""
    if root is not None and file.resolve().is_relative_to(root.resolve()):
        return str(file.resolve().relative_to(root.resolve()))
    return str(file)
