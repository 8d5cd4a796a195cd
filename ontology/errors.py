"""The errors of reading and checking ontology files.

OntologyError
    OntologyUnreadable      a folder or file cannot be opened or decoded
    OntologyImportMissing   an owl:imports that is neither in the folder nor in its catalog
    OntologySyntaxError     a file is not valid Turtle, RDF/XML or N-Triples
    OntologyTermError       a term is declared in ways that cannot both hold
    ReasonerMissing         Java or the package with the reasoners is not installed
    ReasonerFailed          a reasoner ended without a verdict
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class OntologyError(Exception):
    """An ontology file that cannot be used; the message says where and what to do."""

    def __init__(self, problem: str, fix: str, *, file: Path | None = None, line: int | None = None) -> None:
        self.problem = problem
        self.fix = fix
        self.file = file
        self.line = line
        self.also: tuple[OntologyError, ...] = ()
        place = "" if file is None else f"{file}:" if line is None else f"{file}:{line}:"
        super().__init__(f"{place} {problem} {fix}".strip())

    def with_others(self, others: Sequence[OntologyError]) -> OntologyError:
        """The same error, whose message also names these, found in the same reading."""
        self.also = tuple(others)
        self.args = ("\n".join([str(self), *map(str, others)]),)
        return self


class OntologyUnreadable(OntologyError):
    """A folder or file that cannot be opened or decoded."""


class OntologyImportMissing(OntologyError):
    """An import that cannot be found offline; `iri` names it."""

    def __init__(self, iri: str, fix: str, *, file: Path, line: int | None = None) -> None:
        self.iri = iri
        super().__init__(f"The import <{iri}> cannot be found.", fix, file=file, line=line)


class OntologySyntaxError(OntologyError):
    """A file that its parser refuses."""


class OntologyTermError(OntologyError):
    """A term whose declarations contradict each other; `iri` names it."""

    def __init__(
        self, iri: str, problem: str, fix: str, *, file: Path | None = None, line: int | None = None
    ) -> None:
        self.iri = iri
        super().__init__(f"<{iri}> {problem}", fix, file=file, line=line)


class ReasonerMissing(OntologyError):
    """No reasoner is installed on this machine."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"No reasoner is installed: {what}.",
            "Install this program with its extra reasoning: `pip install 'WHEEL[reasoning]'`, in a clone "
            "`pip install '.[reasoning]'`.",
        )


class ReasonerFailed(OntologyError):
    """A reasoner that gave no verdict."""

    def __init__(self, name: str, reason: str) -> None:
        summary = " ".join(reason.split())[:400]
        super().__init__(
            f"{name} failed: {summary}.", "Check the OWL 2 DL profile first, or allow it more time."
        )
