"""The positions of terms in the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyoxigraph import NamedNode

from ontology.checks.findings import Finding, Rule
from ontology.loading import OntologyFile, line_of

__all__ = ["TermPositions"]


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
