"""The folders that rules are read from: their files, what may be written to them, and when they change."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping
from pathlib import Path

from ontology import Schema
from ontology.catalog import CATALOG
from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from server.errors import UnknownResource
from server.rules.checking import Folders
from server.rules.dry_runs import Files
from server.rules.edit import Edit, Kind
from server.rules.edit_errors import FolderReadOnly
from server.rules.rule_history import write_whole
from server.rules.ruleset import Ruleset
from shapes.configuration import SUFFIXES as SHAPES_SUFFIXES

_log = logging.getLogger("urbankg.rules")
Signature = tuple[tuple[str, int, int], ...]


class RuleFolders:
    """The two folders; `editable` is False for those of the installed program, which are not written to."""

    def __init__(self, folders: Folders, editable: Mapping[Kind, bool]) -> None:
        self._folders = folders
        self._editable = editable

    def folder(self, kind: Kind) -> Path:
        """The folder of the files of a kind."""
        return self._folders.ontology if kind is Kind.ONTOLOGY else self._folders.shapes

    def check_names(self, edit: Edit) -> None:
        """Raises `UnknownResource` for names that no file of its kind can have."""
        for names, suffixes, more in (
            (edit.ontology, ONTOLOGY_SUFFIXES, (CATALOG,)),
            (edit.shapes, SHAPES_SUFFIXES, ()),
        ):
            for name in names:
                good = Path(name).suffix in suffixes or name in more
                if not good or Path(name).name != name or name.startswith("."):
                    known = ", ".join((*suffixes, *more))
                    raise UnknownResource(
                        f"'{name}' is not a usable file name: use a plain name ending in {known}."
                    )

    def check_writable(self, edit: Edit) -> None:
        """Raises `FolderReadOnly`, and `UnknownResource` where a file to delete is not there."""
        for kind, names in ((Kind.ONTOLOGY, edit.ontology), (Kind.SHAPES, edit.shapes)):
            if names and not self._editable[kind]:
                raise FolderReadOnly(kind)
            for name, content in names.items():
                if content is None and not (self.folder(kind) / name).is_file():
                    raise UnknownResource(
                        f"There is no {kind} file '{name}'; GET /rules lists those in force."
                    )

    def signature(self, schema: Schema) -> Signature:
        """Names, times and sizes of all files that were or would be read, to notice changes."""
        watched = set(ONTOLOGY_SUFFIXES) | set(SHAPES_SUFFIXES) | {Path(CATALOG).suffix}
        paths = {file.path for file in schema.files}
        for folder in (self._folders.ontology, self._folders.shapes):
            if folder.is_dir():
                paths |= {path for path in folder.iterdir() if path.suffix in watched}
        found = []
        for path in sorted(paths):
            try:
                state = path.stat()
            except OSError:
                continue
            found.append((str(path), state.st_mtime_ns, state.st_size))
        return tuple(found)


def files_of(rules: Ruleset, kind: Kind) -> dict[str, tuple[Path, str]]:
    """The files of one kind by name, with their digests."""
    sources = rules.schema.files if kind is Kind.ONTOLOGY else rules.files.sources
    return {file.path.name: (file.path, file.digest) for file in sources}


def differing(before: Ruleset, after: Ruleset) -> Files:
    """The files that differ between two sets of rules."""
    found: set[tuple[str, str]] = set()
    for kind in Kind:
        old, new = files_of(before, kind), files_of(after, kind)
        found |= {(kind.value, name) for name in {*old, *new} if old.get(name) != new.get(name)}
    return frozenset(found)


def write_all(contents: Mapping[Path, bytes | None], record: Path) -> None:
    """Write these files, each atomically; None deletes one.

    Where there are several, they are recorded first: after a crash, `complete_edit` writes those left.
    """
    if len(contents) > 1:
        edit = [[str(path), _encoded(_content(path)), _encoded(new)] for path, new in contents.items()]
        write_whole(record, json.dumps(edit).encode())
    for path, content in contents.items():
        _write(path, content)
    record.unlink(missing_ok=True)


def complete_edit(record: Path) -> None:
    """Write the files that a crash kept an edit from writing, unless one was changed by hand since."""
    if not record.is_file():
        return
    edit = [
        (Path(path), _decoded(former), _decoded(new)) for path, former, new in json.loads(record.read_bytes())
    ]
    changed = [path for path, former, new in edit if _content(path) not in (former, new)]
    if changed:
        names = ", ".join(map(str, changed))
        _log.warning("An edit that was interrupted is not completed: %s changed since.", names)
    else:
        for path, _, new in edit:
            _write(path, new)
    record.unlink()


def _write(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        write_whole(path, content)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _encoded(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def _decoded(content: str | None) -> bytes | None:
    return None if content is None else base64.b64decode(content)
