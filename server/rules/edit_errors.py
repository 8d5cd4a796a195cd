"""What the server refuses about edits of ontology and shapes.

ServerError
├── RulesUnusable       files that no start can read
├── EditRefused         an edit of ontology or shapes that cannot be used
├── EditConflict        an edit of a file that has changed since it was read
├── EditSuperseded      an edit that a later one of the same file replaced
├── DryRunExceeded      an edit whose dry run on the graph takes too much time or memory
├── FolderReadOnly      an edit of the installed program's own files
└── FileNameUnusable    a name that no file can have
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ontology.checks.findings import Level
from server.errors import ServerError

if TYPE_CHECKING:
    from ontology.checks.reporting import CheckReport


class FileNameUnusable(ServerError):
    """A name that no file can have."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"{name[:80]!r} cannot be the name of a file: {reason}. Choose a shorter, plain name."
        )


class RulesUnusable(ServerError):
    """Files of ontology or shapes that cannot be read, for a reason that no reader of them expects."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The files in {folder} cannot be used: {reason.rstrip('.')}. Find the fault: `urbankg check`."
        )


class EditRefused(ServerError):
    """An edit of ontology or shapes that contradicts itself or cannot be read; `report` says where."""

    def __init__(self, report: CheckReport) -> None:
        self.report = report
        errors = [one for one in report.findings if one.level is Level.ERROR]
        sentences = []
        for one in errors[:3]:
            place = "" if one.file is None else f"{one.file}:{one.line}: " if one.line else f"{one.file}: "
            subject = f"<{one.subject}> " if one.subject else ""
            sentences.append(f"{place}{subject}{one.message} {one.fix}")
        more = f" And {len(errors) - 3} more." if len(errors) > 3 else ""
        super().__init__(" ".join(sentences) + more)


class EditConflict(ServerError):
    """A file is not what the client's If-Match says."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' has changed since you read it. Read it again and edit that.")


class DryRunExceeded(ServerError):
    """Reading edited rules, or trying them on the graph, takes more time or memory than it may."""

    def __init__(self, limit: str, setting: str, *, reading: bool = False) -> None:
        step = "Reading this edit" if reading else "Trying this edit on the graph"
        advice = (
            "Make its files smaller or simpler"
            if reading
            else f"Make the queries of its shapes cheaper, or let the operator raise {setting}"
        )
        super().__init__(
            f"{step} took more than {limit}, so it was given up: the rules stay as they were. {advice}."
        )


class EditSuperseded(ServerError):
    """An edit that was given up because a later one of the same file came."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"A later edit of {', '.join(names)} came before this one was in force, so this one was given up."
        )


class FolderReadOnly(ServerError):
    """The files belong to the installed program."""

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"The {kind} in force is the one the program ships, which is not edited in place. Copy its files "
            f"to a folder of your own and start the server with --{kind} FOLDER."
        )
