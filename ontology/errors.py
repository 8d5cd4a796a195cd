"""What can go wrong when ontology files are read.

OntologyError
    OntologyUnreadable      a folder or file cannot be opened or decoded
    OntologySyntaxError     a file is not valid Turtle, RDF/XML or N-Triples
    OntologyTermError       a term is declared in ways that cannot both hold
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["OntologyError", "OntologySyntaxError", "OntologyTermError", "OntologyUnreadable"]


class OntologyError(Exception):
    """An ontology file that cannot be used; the message says where and what to do."""

    def __init__(self, problem: str, mend: str, *, file: Path | None = None, line: int | None = None) -> None:
        self.problem = problem
        self.mend = mend
        self.file = file
        self.line = line
        place = "" if file is None else f"{file}:" if line is None else f"{file}:{line}:"
        super().__init__(f"{place} {problem} {mend}".strip())


class OntologyUnreadable(OntologyError):
    """A folder or file that cannot be opened or decoded."""


class OntologySyntaxError(OntologyError):
    """A file that its parser refuses."""


class OntologyTermError(OntologyError):
    """A term whose declarations contradict each other; `iri` names it."""

    def __init__(
        self, iri: str, problem: str, mend: str, *, file: Path | None = None, line: int | None = None
    ) -> None:
        self.iri = iri
        super().__init__(f"<{iri}> {problem}", mend, file=file, line=line)
