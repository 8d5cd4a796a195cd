"""The rules in force: one version of the ontology with one of the shapes, loaded and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import Literal, NamedNode, Quad

from ontology import Schema
from server.checking import Edits, Folders
from sparql.provenance import RECORD
from sparql.store import EmbeddedStore
from sparql.vocabulary import OWL, PROV, PROVENANCE, RDF, UKG, XSD

if TYPE_CHECKING:
    from shapes.gate import ShapesGate
    from shapes.loading import ShapesFiles

_VERSIONS = (UKG.ontologyVersion, UKG.shapesVersion)


@dataclass(frozen=True)
class Rulebook:
    """What statements are judged by. An edit makes a new one."""

    schema: Schema
    gate: ShapesGate
    shapes_folder: Path
    loaded: ShapesFiles | None = None

    @cached_property
    def files(self) -> ShapesFiles:
        """The shapes as they were read."""
        from shapes.loading import load_shapes

        return self.loaded or load_shapes(self.shapes_folder)

    @property
    def versions(self) -> Mapping[NamedNode, str]:
        """Both versions, as the provenance of a statement names them."""
        return {UKG.ontologyVersion: self.schema.version, UKG.shapesVersion: self.gate.version}

    def record(self, revision: int, moment: str) -> list[Quad]:
        """The rules as a resource of the provenance: from which revision on they judged."""
        iri = RECORD.term(f"rules/{self.schema.version}-{self.gate.version}-{revision}")
        facts: list[tuple[NamedNode, NamedNode | Literal]] = [
            (RDF.type, UKG.Rules),
            (UKG.fromRevision, Literal(str(revision), datatype=XSD.integer)),
            (PROV.startedAtTime, Literal(moment, datatype=XSD.dateTime)),
            *((predicate, Literal(version)) for predicate, version in self.versions.items()),
            *((OWL.versionIRI, version_iri) for version_iri in self.schema.version_iris),
        ]
        return [Quad(iri, predicate, value, PROVENANCE) for predicate, value in facts]


def in_force(store: EmbeddedStore) -> Mapping[NamedNode, str]:
    """The versions that the graph's provenance says judge now; empty for a new graph."""
    newest = -1
    found: dict[NamedNode, str] = {}
    for quad in store.match_quads(None, UKG.fromRevision, None, PROVENANCE):
        assert isinstance(quad.object, Literal)
        if int(quad.object.value) > newest:
            newest = int(quad.object.value)
            facts = store.match_quads(quad.subject, None, None, PROVENANCE)
            found = {f.predicate: f.object.value for f in facts if isinstance(f.object, Literal)}
            found = {predicate: found[predicate] for predicate in _VERSIONS}
    return found


def open_shapes(folder: Path, edits: Edits | None = None) -> tuple[ShapesGate, ShapesFiles]:
    """The gate of a shapes folder and the files it was read from. Raises `ShapesError`."""
    from shapes.loading import load_shapes
    from shapes.rules import gate_of

    files = load_shapes(folder, edits)
    return gate_of(files), files


def read_rulebook(folders: Folders) -> Rulebook:
    """Load both folders. Raises `OntologyError` and `ShapesError` with file, line and mend."""
    schema = Schema.load(folders.ontology, folders.ontology_edits)
    gate, files = open_shapes(folders.shapes, folders.shapes_edits)
    return Rulebook(schema, gate, folders.shapes, files)
