"""What checks of ontologies share: findings with their rule, level, place and fix, and what a rule reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pyoxigraph import NamedNode

from ontology import vocabulary as v
from ontology.graph import Graph
from ontology.loading import OntologyFile, line_of
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty


class Level(StrEnum):
    """The level of a finding, in the terms of ROBOT's report.

    ERROR: the file contradicts itself and is not put in force. WARN: it works, but probably not as meant.
    INFO: worth knowing.
    """

    ERROR = "ERROR"
    WARN = "WARN"
    INFO = "INFO"


@dataclass(frozen=True)
class Rule:
    """A rule of the check; `summary` describes in one sentence what it finds.

    `blocks`: an ERROR by it keeps an edit from being put in force.
    """

    name: str
    level: Level
    summary: str
    blocks: bool = True


@dataclass(frozen=True)
class Finding:
    """One violation of a rule. `line` counts from 1."""

    rule: Rule
    message: str
    fix: str
    subject: str = ""
    file: Path | None = None
    line: int | None = None

    @property
    def level(self) -> Level:
        """The level of its rule."""
        return self.rule.level


_RANK = {Level.ERROR: 0, Level.WARN: 1, Level.INFO: 2}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The most severe first, then by rule, file, line and subject; each once."""
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda one: (
                _RANK[one.level], one.rule.name, str(one.file or ""), one.line or 0, one.subject, one.message,
            ),
        )
    )  # fmt: skip


class TermPositions:
    """Finds the file and line of a term in files that were read, and caches them."""

    def __init__(self, files: Sequence[OntologyFile]) -> None:
        self._files = files
        self._subjects: dict[str, list[OntologyFile]] | None = None
        self._known: dict[str, tuple[Path | None, int | None]] = {}

    def of(self, iri: str) -> tuple[Path | None, int | None]:
        """File and line (from 1) of a term's first occurrence; (None, None) for one in no file."""
        if iri not in self._known:
            self._known[iri] = self._find(iri)
        return self._known[iri]

    def finding(self, rule: Rule, term: NamedNode, message: str, fix: str) -> Finding:
        """A finding about a term, with its file and line."""
        file, line = self.of(term.value)
        return Finding(rule, message, fix, term.value, file, line)

    def _find(self, iri: str) -> tuple[Path | None, int | None]:
        node = NamedNode(iri)
        for file in (*self._with_subject(iri), *self._files):
            line = line_of(file, node)
            if line is not None:
                return file.path, line
        return None, None

    def _with_subject(self, iri: str) -> list[OntologyFile]:
        """The files with statements about a term."""
        if self._subjects is None:
            self._subjects = {}
            for file in self._files:
                for name in {t.subject.value for t in file.triples if isinstance(t.subject, NamedNode)}:
                    self._subjects.setdefault(name, []).append(file)
        return self._subjects.get(iri, [])


Term = OntologyClass | OntologyProperty

_DUBLIN_CORE = ("http://purl.org/dc/terms/", "http://purl.org/dc/elements/1.1/")
_STANDARD = (v.RDF, v.RDFS, v.OWL, v.XSD, v.SKOS, *_DUBLIN_CORE)


@dataclass(frozen=True)
class LintContext:
    """`own` are the terms that the files define, without those of other vocabularies."""

    schema: Schema
    graph: Graph
    places: TermPositions
    own: tuple[Term, ...]


def lint_context(schema: Schema) -> LintContext:
    """The context for the rules that examine a schema."""
    terms: list[Term] = [*schema.classes.values(), *schema.properties.values()]
    return LintContext(
        schema,
        schema.graph,
        TermPositions(schema.files),
        tuple(term for term in terms if not term.borrowed and not is_standard(term.iri)),
    )


def is_standard(iri: NamedNode) -> bool:
    """Whether a term is of RDF, RDFS, OWL, XSD, SKOS or Dublin Core."""
    return iri.value.startswith(_STANDARD)
