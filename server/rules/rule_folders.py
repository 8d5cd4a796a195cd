"""The folders that rules are read from, what can be used of their files, and every version that was in force.

`FOLDER/rules/ontology/VERSION/` and `FOLDER/rules/shapes/VERSION/` hold the files exactly as they were
written, so that the versions named in provenance can be looked up, compared and restored;
`FOLDER/rules/current.json` says which are in force. The folders that editors work in are not touched.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontology import Schema
from ontology.errors import OntologyError
from ontology.loading import CATALOG, OntologyFile, read_file
from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from server.errors import UnknownResource
from server.rules.checking import Folders, check_shallow
from server.rules.edits import Edit, Files, FolderReadOnly, Kind, RulesUnusable
from server.rules.ruleset import Ruleset, open_shapes
from shapes.configuration import SUFFIXES as SHAPES_SUFFIXES
from shapes.configuration import Generation
from shapes.errors import UNEXPECTED, ShapesError, in_words
from sparql.model.errors import PayloadProblem

if TYPE_CHECKING:
    from shapes.gate.gate import ShapesGate
    from shapes.loading import ShapesFiles

_MANIFEST = "manifest.json"
_CURRENT = "current.json"
EDIT_RECORD = "edit.json"
"""In the data folder: an edit whose files are being written."""


@dataclass(frozen=True)
class KeptVersion:
    """One version that was in force, from its manifest."""

    kind: str
    version: str
    files: tuple[str, ...]
    version_iris: tuple[str, ...]
    seconds: float


class RuleHistory:
    """The versions in a data folder."""

    def __init__(self, data: Path) -> None:
        self.folder = data / "rules"
        self.plan = self.folder / "plan.json"
        """The plan cache of the shapes, for the next start."""
        self.edit_record = data / EDIT_RECORD

    def keep(self, rules: Ruleset) -> None:
        """Store the files of these rules, and that they are in force now."""
        iris = [iri.value for iri in rules.schema.version_iris]
        self._keep("ontology", rules.schema.version, rules.schema.files, iris)
        self._keep("shapes", rules.gate.version, rules.files.sources, [])
        current = {"ontology": rules.schema.version, "shapes": rules.gate.version}
        write_whole(self.folder / _CURRENT, json.dumps(current).encode())

    def last_good_ontology(self) -> Schema | None:
        """The ontology that was in force last, or None if none ever was."""
        version = self._current("ontology")
        return (
            None
            if version is None
            else Schema([read_file(path) for path in self._paths("ontology", version)])
        )

    def last_good_shapes(self, schema: Schema, mode: Generation) -> tuple[ShapesGate, ShapesFiles] | None:
        """The shapes that were in force last, with those generated from a schema; None: there are none."""
        from shapes.gate.opening import gate_of, with_generated
        from shapes.loading import shapes_of

        version = self._current("shapes")
        if version is None:
            return None
        files = shapes_of([(path, None) for path in self._paths("shapes", version)])
        files = with_generated(files, schema, mode)
        return gate_of(files), files

    def _current(self, kind: str) -> str | None:
        try:
            return str(json.loads((self.folder / _CURRENT).read_bytes())[kind])
        except FileNotFoundError:
            return None

    def versions(self) -> list[KeptVersion]:
        """All stored versions, the newest first."""
        found = []
        for manifest in self.folder.glob(f"*/*/{_MANIFEST}"):
            content: dict[str, Any] = json.loads(manifest.read_bytes())
            found.append(
                KeptVersion(
                    manifest.parent.parent.name,
                    manifest.parent.name,
                    tuple(content["files"]),
                    tuple(content["version_iris"]),
                    manifest.stat().st_mtime,
                )
            )
        return sorted(found, key=lambda one: (-one.seconds, one.kind, one.version))

    def content(self, kind: str, version: str, name: str) -> bytes:
        """A file of a stored version. Raises `UnknownResource`."""
        if any((one.kind, one.version) == (kind, version) and name in one.files for one in self.versions()):
            return (self.folder / kind / version / name).read_bytes()
        what = f"version '{version}' of {kind} with '{name}'"
        raise UnknownResource(f"No {what} is stored; GET /rules lists those that are.")

    def _paths(self, kind: str, version: str) -> list[Path]:
        folder = self.folder / kind / version
        return [folder / name for name in json.loads((folder / _MANIFEST).read_bytes())["files"]]

    def _keep(self, kind: str, version: str, files: Sequence[OntologyFile], iris: list[str]) -> None:
        folder = self.folder / kind / version
        if (folder / _MANIFEST).is_file():
            return
        # Written aside and renamed: a version is complete or absent.
        made = folder.with_name(f".{version}.new")
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        names: list[str] = []
        for file in files:
            name = file.path.name if file.path.name not in names else f"{len(names)}-{file.path.name}"
            names.append(name)
            (made / name).write_bytes(file.content)
        manifest = {"files": names, "version_iris": iris}
        (made / _MANIFEST).write_bytes(json.dumps(manifest, indent=1).encode())
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(made, folder)


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f".{path.name}.new")
    with made.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(made, path)


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


UNUSABLE = (OntologyError, ShapesError, RulesUnusable)
"""What reading files of ontology or shapes raises."""


def read_ontology(folder: Path) -> Schema:
    """The ontology of a folder. Raises `UNUSABLE`, before a file could end the process that reads it."""
    with _reading(folder):
        check_shallow(_contents(folder, ONTOLOGY_SUFFIXES), {})
        return Schema.load(folder)


def read_shapes(folders: Folders, schema: Schema, kept: Path | None = None) -> tuple[ShapesGate, ShapesFiles]:
    """The gate of a shapes folder and the files it was read from, as `open_shapes`. Raises `UNUSABLE`."""
    with _reading(folders.shapes):
        check_shallow({}, _contents(folders.shapes, SHAPES_SUFFIXES))
        return open_shapes(folders, schema, kept)


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Raise `RulesUnusable` for what a library raises."""
    try:
        yield
    except (PayloadProblem, OSError, *UNEXPECTED) as error:
        raise RulesUnusable(folder, in_words(error)) from error


def _contents(folder: Path, suffixes: Sequence[str]) -> dict[str, bytes | None]:
    if not folder.is_dir():
        return {}
    paths = sorted(path for path in folder.iterdir() if path.suffix in suffixes and path.is_file())
    return {path.name: path.read_bytes() for path in paths}
