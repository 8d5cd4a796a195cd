"""The gate of a shapes folder, with errors that name the file and line of a shape that cannot be run.

Targets and dependencies of shapes are kept in a file: a start with the same shapes need not parse their
queries.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from pathlib import Path as FilePath
from typing import Any

import rdflib
from pyoxigraph import NamedNode

from ontology import Schema
from ontology.checks.findings import TermPositions
from shapes import paths
from shapes.configuration import Generation
from shapes.errors import ShapeMalformed
from shapes.gate.gate import ShapesGate
from shapes.graph import add_all, to_rdflib
from shapes.loading import ShapesFiles
from shapes.model import TargetedShape, read_shapes
from shapes.paths import Dependency, Effect, Step
from sparql.model.geometry import states_geometry

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


_PARTS: Mapping[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (Step, paths.Sequence, paths.Alternative, paths.Repeat, Dependency, Effect)
}


def _shape_json(shape: TargetedShape) -> dict[str, Any]:
    return {one.name: _json(getattr(shape, one.name)) for one in fields(shape) if one.name != "node"}


def _shape(content: dict[str, Any]) -> TargetedShape:
    values = {name: _value(value) for name, value in content.items()}
    sets = {name: frozenset(values[name]) for name in ("nodes", "classes", "subjects_of", "objects_of")}
    return TargetedShape(rdflib.URIRef(content["name"]), **{**values, **sets})


def _json(value: Any) -> Any:
    """IRIs as members of an object, the parts of dependencies as lists that begin with their kind."""
    if isinstance(value, NamedNode):
        return {"iri": value.value}
    if isinstance(value, frozenset):
        return sorted((_json(one) for one in value), key=str)
    if isinstance(value, tuple):
        return [_json(one) for one in value]
    if is_dataclass(value):
        return [type(value).__name__, *(_json(getattr(value, one.name)) for one in fields(value))]
    return value


def _value(content: Any) -> Any:
    if isinstance(content, dict):
        return NamedNode(content["iri"])
    if not isinstance(content, list):
        return content
    if content and isinstance(content[0], str):
        return _PARTS[content[0]](*map(_value, content[1:]))
    return tuple(map(_value, content))


def with_generated(files: ShapesFiles, schema: Schema, mode: Generation) -> ShapesFiles:
    """The same files with the shapes generated from the ontology's axioms where none is handwritten."""
    if mode == "off":
        return files
    # Imported here: a server may run without generated shapes.
    from shapes.authoring.demands import Overrides
    from shapes.authoring.generating import generate_shapes

    triples = generate_shapes(schema, Overrides(files.graph), mode)
    add_all(files.graph, (tuple(map(to_rdflib, triple)) for triple in triples))  # type: ignore[misc]
    if not triples:
        return replace(files, generation=mode)
    text = "\n".join(str(triple) for triple in triples)
    version = hashlib.sha256((files.version + text).encode()).hexdigest()[:12]
    return replace(files, version=version, generated=tuple(triples), generation=mode)


def gate_of(files: ShapesFiles, plan: PlanCache | None = None) -> ShapesGate:
    """The gate of these files, from `plan` where it has them. Raises `ShapeMalformed` with file and line."""
    kept = None if plan is None else plan.read(files.version)
    try:
        gate = ShapesGate(files, derives_from=states_geometry, shapes=kept)
        if plan is not None and kept is None:
            plan.write(files.version, tuple(gate.pairs.shapes.values()))
        return gate
    except ShapeMalformed as error:
        path, line = _place(files, error.shape)
        raise ShapeMalformed(error.shape, error.reason, path=path, line=line) from error


def malformed(files: ShapesFiles) -> list[ShapeMalformed]:
    """All shapes that cannot be run, with file and line, whatever else is ill-formed in the files."""
    # Imported here: only a check of ill-formed files needs it.
    from shapes.authoring.linting import well_formed

    graph = well_formed(files.graph)
    found = [one for one in read_shapes(graph) if isinstance(one, ShapeMalformed)]
    places = [_place(files, one.shape) for one in found]
    return [
        ShapeMalformed(one.shape, one.reason, path=path, line=line)
        for one, (path, line) in zip(found, places, strict=True)
    ]


def _place(files: ShapesFiles, shape: str) -> tuple[Path | None, int | None]:
    try:
        return TermPositions(files.sources).of(NamedNode(shape).value)
    except ValueError:
        return None, None
