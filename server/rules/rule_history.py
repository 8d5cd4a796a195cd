"""Stores every version of the rules that was in force, as plain files beside the graph.

`FOLDER/rules/ontology/VERSION/` and `FOLDER/rules/shapes/VERSION/` hold the files exactly as they were
written, so that the versions named in provenance can be looked up, compared and restored;
`FOLDER/rules/current.json` says which are in force. The folders that editors work in are not touched.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontology import Schema
from ontology.loading import OntologyFile, read_file
from server.errors import UnknownResource
from server.rules.ruleset import Ruleset
from shapes.configuration import Generation

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
