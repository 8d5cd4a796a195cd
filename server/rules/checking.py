"""`urbankg check`: the folders of ontology and shapes read, linted and, if asked, reasoned over."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from pyoxigraph import RdfFormat

from ontology import Schema
from ontology.checks.findings import Finding, Level, Rule, in_order
from ontology.errors import OntologyError, ReasonerFailed, ReasonerMissing
from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from ontology.loading import syntax_of
from server.errors import SettingsError
from server.extent import read_extent, stated_extents
from shapes.configuration import FORMATS, Generation
from shapes.errors import UNEXPECTED, ShapeMalformed, ShapesError, ShapesFileUnreadable, in_words
from sparql.model.errors import PayloadProblem
from sparql.syntax.nesting import ShallowFile

if TYPE_CHECKING:
    from ontology.checks.reporting import CheckReport, Profile
    from shapes.gate.gate import ShapesGate
    from shapes.loading import ShapesFiles


def check_shallow(ontology: Mapping[str, bytes | None], shapes: Mapping[str, bytes | None]) -> None:
    """Check files by name; the check of their content finds other faults.

    Raises `PayloadProblem` for deep nesting, and for XML that is malformed or expands without bound.
    """
    for name, content in ontology.items():
        if content is not None and Path(name).suffix in ONTOLOGY_SUFFIXES:
            _pass_over(name, content, syntax_of(Path(name), content))
    for name, content in shapes.items():
        if content is not None and Path(name).suffix in FORMATS:
            _pass_over(name, content, FORMATS[Path(name).suffix])


def _pass_over(name: str, content: bytes, form: RdfFormat) -> None:
    file = ShallowFile(cast("IO[bytes]", io.BytesIO(content)), form)
    try:
        # An empty piece marks the end.
        while file.read():
            pass
    except PayloadProblem as error:
        raise PayloadProblem(f"{name}: {error.message}", error.line, error.column) from error


Edits = Mapping[str, bytes | None]
UNUSABLE = Rule("unusable", Level.ERROR, "A file cannot be read, or contradicts itself, so it is not used.")

EXTENT = Rule("extent", Level.ERROR, "A ukg:extent is not an area.")


class Reasoner(StrEnum):
    """The reasoner to run: none, HermiT, or HermiT with Pellet's explanations."""

    NONE = "none"
    HERMIT = "hermit"
    PELLET = "pellet"


@dataclass(frozen=True)
class Folders:
    """The folders of ontology and shapes, with edits (by file name) that replace files."""

    ontology: Path
    shapes: Path
    ontology_edits: Edits | None = None
    shapes_edits: Edits | None = None
    generate: Generation = "contradictions"
    """Which shapes are also generated from the ontology."""
    follows_rules: bool = False
    """Whether the rules of the shapes are followed."""


@dataclass(frozen=True)
class Examined:
    """The report of a check, and what was read; None what cannot be used."""

    report: CheckReport
    schema: Schema | None = None
    files: ShapesFiles | None = None
    gate: ShapesGate | None = None


def check(folders: Folders, reasoner: Reasoner = Reasoner.NONE) -> CheckReport:
    """All findings about the files; a file that cannot be read is a finding too."""
    examined = examine(folders)
    if reasoner is Reasoner.NONE or examined.schema is None:
        return examined.report
    return reasoned(examined.schema, examined.report, reasoner)


def examine(folders: Folders, known: Schema | None = None) -> Examined:
    """The same with what was read, once; `known` is an ontology whose files need not be parsed again."""
    # Imported here: a start of the server does not need them.
    from ontology.checks.reporting import CheckReport
    from shapes.authoring.linting import ILL_FORMED, lint_shapes
    from shapes.gate.opening import gate_of, malformed, with_generated
    from shapes.loading import load_shapes

    try:
        schema, unread = Schema.load_readable(folders.ontology, folders.ontology_edits, known)
        linted = _lint(schema)
    except (OntologyError, *UNEXPECTED) as error:
        said = "Shapes were not checked: fix the ontology first."
        return Examined(CheckReport((_unusable(error),), notes=(said,)))
    findings = [*map(_unusable, unread), *linted.findings]
    notes = ("Terms of the files that cannot be read are reported as unknown.",) if unread else ()
    unread_shapes: list[ShapesFileUnreadable] = []
    files, gate = None, None
    try:
        files = load_shapes(folders.shapes, folders.shapes_edits, unread_shapes)
        findings += map(_unusable, unread_shapes)
        findings += lint_shapes(files, schema, folders.generate, follows_rules=folders.follows_rules)
        files = with_generated(files, schema, folders.generate)
        gate = gate_of(files)
    except ShapesError as error:
        # What the linter found hides no shape that cannot be run for another reason.
        wrong = isinstance(error, ShapeMalformed) and any(one.rule == ILL_FORMED for one in findings)
        findings += map(_unusable, malformed(files) if wrong and files is not None else [error])
    except UNEXPECTED as error:
        findings.append(_unusable(error))
    return Examined(CheckReport(in_order(findings), linted.profiles, notes), schema, files, gate)


@dataclass(frozen=True)
class Linted:
    """What is found in an ontology, whatever the shapes are."""

    findings: tuple[Finding, ...]
    profiles: tuple[Profile, ...]


LINTED: WeakKeyDictionary[Schema, Linted] = WeakKeyDictionary()
"""Of the schemas in use, which never change: most edits are of shapes."""


def _lint(schema: Schema) -> Linted:
    from ontology.checks.linting import lint_ontology
    from ontology.checks.reporting import lint_profile, profiles

    linted = LINTED.get(schema)
    if linted is None:
        found = profiles(schema.triples)
        findings = (*lint_ontology(schema), *_extents(schema), *lint_profile(schema, found))
        linted = LINTED[schema] = Linted(findings, found)
    return linted


def reasoned(
    schema: Schema, report: CheckReport, reasoner: Reasoner, stopped: Callable[[], bool] = lambda: False
) -> CheckReport:
    """The report with a reasoner's verdict; without a verdict, a note says why. Takes seconds."""
    from ontology.checks.reasoning import lint_reasoned, reason

    try:
        verdict = reason(schema.triples, explain=reasoner is Reasoner.PELLET, stopped=stopped)
    except (ReasonerMissing, ReasonerFailed) as error:
        return replace(report, notes=(*report.notes, f"Not reasoned over: {error}"))
    names = "HermiT" if reasoner is Reasoner.HERMIT else "HermiT, explained by Pellet"
    findings = in_order((*report.findings, *lint_reasoned(schema, verdict)))
    return replace(report, findings=findings, notes=(*report.notes, f"Reasoned over by {names}."))


def _extents(schema: Schema) -> Iterator[Finding]:
    for value in stated_extents(schema):
        try:
            read_extent(value)
        except SettingsError as error:
            yield Finding(EXTENT, str(error), "Write an area as geo:wktLiteral.")


def ended(reason: str) -> CheckReport:
    """The report of files whose reading ended its process."""
    from ontology.checks.reporting import CheckReport

    message = f"Reading these files ended the process that read them. {reason}"
    return CheckReport((Finding(UNUSABLE, message, "Take out what nests deepest there."),))


def _unusable(error: Exception) -> Finding:
    if isinstance(error, OntologyError):
        return Finding(UNUSABLE, error.problem, error.fix, file=error.file, line=error.line)
    if isinstance(error, ShapesFileUnreadable | ShapeMalformed):
        subject = error.shape if isinstance(error, ShapeMalformed) else ""
        message = f"{error.reason.rstrip('.')}."
        return Finding(UNUSABLE, message, "Fix it there.", subject, error.path, error.line)
    if isinstance(error, ShapesError):
        return Finding(UNUSABLE, str(error), "Fix it in the shapes folder.")
    message = f"The files cannot be checked: {in_words(error)}."
    return Finding(UNUSABLE, message, "Compare them with the files in force, and fix what differs.")
