"""A set of rules: one version of the ontology with one of the shapes, immutable, and the shapes' examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, serialize

from ontology import Schema
from server.rules.checking import Folders
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import OWL, PROV, PROVENANCE, RDF, UKG, XSD

if TYPE_CHECKING:
    from server.settings import Settings
    from shapes.authoring.impact_results import ComparedRules
    from shapes.gate.gate import ShapesGate
    from shapes.loading import ShapesFiles
    from shapes.shape_rules import ShapeRules

_MOST = 20
_MOST_CHARS = 20_000
_NAME = re.compile(r"[#/:]([\w.-]+)$")


@dataclass(frozen=True)
class ShapeExample:
    """A small graph, and whether the shape lets it pass."""

    name: str
    passes: bool
    turtle: str

    def as_json(self) -> dict[str, object]:
        """As the API gives it."""
        return asdict(self)


def examples_of(folder: Path, shape: str) -> Iterator[ShapeExample]:
    """The examples of the shape with this IRI; those that fail first."""
    found = _NAME.search(shape)
    if found is None or found[1].strip(".") == "":
        return
    for path in sorted((folder / "examples" / found[1]).glob("*.ttl"))[:_MOST]:
        if path.stem.startswith(("pass", "fail")):
            text = path.read_text(encoding="utf-8", errors="replace")[:_MOST_CHARS]
            yield ShapeExample(path.name, path.stem.startswith("pass"), text)


_VERSIONS = (UKG.ontologyVersion, UKG.shapesVersion)


@dataclass(frozen=True)
class Ruleset:
    """The rules by which statements are judged. An edit makes a new set."""

    schema: Schema
    gate: ShapesGate
    shapes_folder: Path
    loaded: ShapesFiles | None = None

    @cached_property
    def files(self) -> ShapesFiles:
        """The shapes as read."""
        from shapes.loading import load_shapes

        return self.loaded or load_shapes(self.shapes_folder)

    @cached_property
    def compared(self) -> ComparedRules:
        """The rules as one side of a comparison, with what is worked out for it."""
        from shapes.authoring.impact_results import ComparedRules

        return ComparedRules(self.schema, self.files, self.gate)

    def derivations(self, settings: Settings) -> ShapeRules | None:
        """The rules of the shapes (`sh:rule`), where the settings want them to be followed."""
        if not settings.follows_rules:
            return None
        from shapes.shape_rules import shape_rules

        return shape_rules(self.files.graph)

    def generated(self) -> list[Triple]:
        """The shapes generated from the ontology; all that could be, where none are in force."""
        if self.files.generation != "off":
            return list(self.files.generated)
        from shapes.gate.opening import with_generated
        from shapes.loading import shapes_of

        by_hand = shapes_of([(source.path, source.content) for source in self.files.sources])
        return list(with_generated(by_hand, self.schema, "closed").generated)

    def by_hand(self) -> list[Triple]:
        """The shapes in files."""
        return list(dict.fromkeys(triple for source in self.files.sources for triple in source.triples))

    @property
    def versions(self) -> Mapping[NamedNode, str]:
        """Both versions, as the provenance of a statement names them."""
        return {UKG.ontologyVersion: self.schema.version, UKG.shapesVersion: self.gate.version}

    def record(self, revision: int, moment: str) -> list[Quad]:
        """The rules as a resource of the provenance, with the revision from which they apply."""
        # Imported here: most starts record nothing.
        from sparql.model.vocabulary import RECORD

        iri = RECORD.term(f"rules/{self.schema.version}-{self.gate.version}-{revision}")
        facts: list[tuple[NamedNode, NamedNode | Literal]] = [
            (RDF.type, UKG.Rules),
            (UKG.fromRevision, Literal(str(revision), datatype=XSD.integer)),
            (PROV.startedAtTime, Literal(moment, datatype=XSD.dateTime)),
            *((predicate, Literal(version)) for predicate, version in self.versions.items()),
            *((OWL.versionIRI, version_iri) for version_iri in self.schema.version_iris),
        ]
        return [Quad(iri, predicate, value, PROVENANCE) for predicate, value in facts]


def in_force(store: TripleStore) -> Mapping[NamedNode, str]:
    """The versions in force by the graph's provenance; empty for a new graph."""
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


def open_shapes(folders: Folders, schema: Schema, kept: Path | None = None) -> tuple[ShapesGate, ShapesFiles]:
    """The gate of a shapes folder and the files it was read from. Raises `ShapesError`.

    `kept` is the file of the plan cache.
    """
    from shapes.gate.opening import PlanCache, gate_of, with_generated
    from shapes.loading import load_shapes

    files = load_shapes(folders.shapes, folders.shapes_edits)
    files = with_generated(files, schema, folders.generate)
    return gate_of(files, None if kept is None else PlanCache(kept)), files


def read_ruleset(folders: Folders) -> Ruleset:
    """Load both folders. Raises `OntologyError` and `ShapesError` with file, line and fix."""
    schema = Schema.load(folders.ontology, folders.ontology_edits)
    gate, files = open_shapes(folders, schema)
    return Ruleset(schema, gate, folders.shapes, files)


def turtle(triples: list[Triple], rules: Ruleset, form: RdfFormat = RdfFormat.TURTLE) -> str:
    """Triples with the prefixes of the files, and SHACL's."""
    prefixes = {"sh": "http://www.w3.org/ns/shacl#", **rules.schema.prefixes}
    for source in rules.files.sources:
        prefixes.update(source.prefixes)
    text = serialize(triples, format=form, prefixes=prefixes)
    return (text or b"").decode()
