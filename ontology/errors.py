"""What can go wrong when ontology files are read.

OntologyError
    OntologyUnreadable      a folder or file cannot be opened or decoded
    OntologyImportMissing   an owl:imports that neither the folder nor its catalog holds
    OntologySyntaxError     a file is not valid Turtle, RDF/XML or N-Triples
    OntologyTermError       a term is declared in ways that cannot both hold
    ReasonerMissing         there is no Java, or not the package that brings the reasoners
    ReasonerFailed          a reasoner ended without a verdict
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "OntologyError",
    "OntologyImportMissing",
    "OntologySyntaxError",
    "OntologyTermError",
    "OntologyUnreadable",
    "ReasonerFailed",
    "ReasonerMissing",
]


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


class OntologyImportMissing(OntologyError):
    """An import that cannot be found offline; `iri` names it."""

    def __init__(self, iri: str, mend: str, *, file: Path, line: int | None = None) -> None:
        self.iri = iri
        super().__init__(f"The import <{iri}> cannot be found.", mend, file=file, line=line)


class OntologySyntaxError(OntologyError):
    """A file that its parser refuses."""


class OntologyTermError(OntologyError):
    """A term whose declarations contradict each other; `iri` names it."""

    def __init__(
        self, iri: str, problem: str, mend: str, *, file: Path | None = None, line: int | None = None
    ) -> None:
        self.iri = iri
        super().__init__(f"<{iri}> {problem}", mend, file=file, line=line)


class ReasonerMissing(OntologyError):
    """Nothing to reason with on this machine."""

    def __init__(self, what: str) -> None:
        super().__init__(f"No reasoner here: {what}.", "Install it: pip install 'urbankg[reasoning]'.")


class ReasonerFailed(OntologyError):
    """A reasoner that gave no verdict."""

    def __init__(self, name: str, reason: str) -> None:
        told = " ".join(reason.split())[:400]
        super().__init__(
            f"{name} failed: {told}.", "Check the OWL 2 DL profile first, or allow it more time."
        )
