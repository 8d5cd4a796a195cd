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
        subjects = (file for file in self._files if any(t.subject == node for t in file.triples))
        for file in (*subjects, *self._files):
            line = line_of(file, node)
            if line is not None:
                return file.path, line
        return None, None
