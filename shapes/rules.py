"""The gate of a shapes folder, with errors that name the file and line of a shape that cannot be run."""

import hashlib
from dataclasses import replace
from pathlib import Path

from pyoxigraph import NamedNode

from ontology import Schema
from ontology.checks.term_positions import TermPositions
from shapes.engine.triple_memory import add_all
from shapes.errors import ShapeMalformed
from shapes.gate.gate import ShapesGate
from shapes.gate.plan_cache import PlanCache
from shapes.generation import Generation
from shapes.loading import ShapesFiles
from shapes.model import read_shapes
from shapes.terms import to_rdflib
from sparql.model.geometry import states_geometry

__all__ = ["gate_of", "malformed", "with_generated"]


def with_generated(files: ShapesFiles, schema: Schema, mode: Generation) -> ShapesFiles:
    """The same files with the shapes generated from the ontology's axioms where none is handwritten."""
    if mode == "off":
        return files
    # Imported here: a server may run without generated shapes.
    from shapes.authoring.generating import generate_shapes
    from shapes.authoring.overrides import Overrides

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
