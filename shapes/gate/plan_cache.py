"""A file with targets and dependencies of shapes: a start with the same shapes need not parse their queries.

The file is valid only for the program that wrote it and the version of the shapes that it names; otherwise
everything is read again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import rdflib
from pyoxigraph import NamedNode

from shapes import paths
from shapes.model import TargetedShape
from shapes.paths import Dependency, Effect, Path, Step

_log = logging.getLogger("urbankg.rules")


class PlanCache:
    """The cache file at `path`."""

    def __init__(self, path: FilePath) -> None:
        self._path = path

    def read(self, version: str) -> tuple[TargetedShape, ...] | None:
        """The shapes of this version, if the file has them."""
        try:
            content = json.loads(self._path.read_bytes())
            if content["key"] != _key(version):
                return None
            return tuple(_shape(one) for one in content["shapes"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("%s cannot be used, the shapes are read again: %s", self._path, error)
            return None

    def write(self, version: str, shapes: Sequence[TargetedShape]) -> None:
        """Save the shapes, unless one or its target is a blank node, which cannot be named in a file."""
        named = all(
            isinstance(one.node, rdflib.URIRef) and all(isinstance(node, NamedNode) for node in one.nodes)
            for one in shapes
        )
        if not named:
            return
        content = {"key": _key(version), "shapes": [_shape_json(one) for one in shapes]}
        new = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps(content))
            os.replace(new, self._path)
        except OSError as error:
            _log.warning("%s cannot be written, the next start takes longer: %s", self._path, error)


@cache
def _program() -> str:
    """A digest of this package's modules."""
    digest = hashlib.sha256(rdflib.__version__.encode())
    for module in sorted(FilePath(__file__).parents[1].rglob("*.py")):
        digest.update(module.read_bytes())
    return digest.hexdigest()


def _key(version: str) -> str:
    return f"{version} {_program()}"


def _shape_json(shape: TargetedShape) -> dict[str, Any]:
    return {
        "name": shape.name,
        "nodes": _names(shape.nodes),
        "classes": _names(shape.classes),
        "subjects_of": _names(shape.subjects_of),
        "objects_of": _names(shape.objects_of),
        "dependencies": [
            [
                None if d.path is None else _path_json(d.path),
                _path_json(d.step),
                d.effect.added,
                d.effect.removed,
            ]
            for d in shape.dependencies
        ],
    }


def _shape(content: dict[str, Any]) -> TargetedShape:
    return TargetedShape(
        node=rdflib.URIRef(content["name"]),
        name=content["name"],
        nodes=frozenset(map(NamedNode, content["nodes"])),
        classes=frozenset(map(NamedNode, content["classes"])),
        subjects_of=frozenset(map(NamedNode, content["subjects_of"])),
        objects_of=frozenset(map(NamedNode, content["objects_of"])),
        dependencies=tuple(_dependency(*one) for one in content["dependencies"]),
    )


def _dependency(path: Any, step: Any, added: bool, removed: bool) -> Dependency:
    last = _path(step)
    if not isinstance(last, Step):
        raise ValueError("a dependency ends with one step")
    return Dependency(None if path is None else _path(path), last, Effect(added, removed))


def _path_json(path: Path) -> list[Any]:
    match path:
        case Step():
            return ["step", None if path.predicate is None else path.predicate.value, path.forward]
        case paths.Sequence():
            return ["sequence", *map(_path_json, path.parts)]
        case paths.Alternative():
            return ["alternative", *map(_path_json, path.parts)]
        case paths.Repeat():
            return ["repeat", _path_json(path.part), path.at_least_one, path.at_most_one]


def _path(content: list[Any]) -> Path:
    kind, *rest = content
    match kind:
        case "step":
            return Step(None if rest[0] is None else NamedNode(rest[0]), rest[1])
        case "sequence":
            return paths.Sequence(tuple(map(_path, rest)))
        case "alternative":
            return paths.Alternative(tuple(map(_path, rest)))
        case "repeat":
            return paths.Repeat(_path(rest[0]), rest[1], rest[2])
    raise ValueError(f"there is no path of the kind {kind}")


def _names(nodes: Iterable[object]) -> list[str]:
    return sorted(node.value for node in nodes if isinstance(node, NamedNode))
