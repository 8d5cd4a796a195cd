"""Loads features from files: in batches through the gate, or in bulk with a report at the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from pyoxigraph import BlankNode, NamedNode, Quad, Triple
from shapely.geometry.base import BaseGeometry

from geo.relate.rcc8 import RCC8
from geo.relate.tolerance import relate_within
from server.data.feature_files import FeatureLayer, FeatureRefused, Record, layers_of, refused
from server.data.feature_mapping import SF, FeatureMapping, LayerRules, read_feature_mapping
from server.data.loading import FIRST, LoadResult, describe, first_of, listed
from server.data.rdf_files import LoadError, MappingError
from sparql.model.change import Change, Rejection, Statement
from sparql.model.source import TripleSource
from sparql.model.vocabulary import GEO, RDF
from sparql.writing.writer import Writer

BATCH = 500
_LEAVE_OUT = "--partial skips refused features."
OnDerived = Callable[[Iterable[Triple]], None]
"""Called with the relations that each commit derived."""
OnFeatures = Callable[[int], None]
"""Called with the number of further features read, and committed where they are in batches."""


@dataclass(frozen=True)
class MappedFeature:
    """One feature of a file as statements, the first of which states its class."""

    path: Path
    number: str
    triples: tuple[Triple, ...]


@dataclass
class FeatureFiles:
    """Files and their mapping, with counts of features. Raises LoadError when they do not fit.

    `base` is the IRI under which features are named where the mapping has none. `left_out` counts features of
    which the geometry, or everything, was unusable; `notes` gives the reasons for the first of them.
    """

    paths: Sequence[Path]
    mapping: FeatureMapping
    base: str
    read: int = 0
    passed_over: int = 0
    without_geometry: int = 0
    left_out: int = 0
    notes: list[str] = field(default_factory=list)
    layers: list[tuple[FeatureLayer, tuple[LayerRules, ...]]] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.base = self.mapping.base or self.base
        for path in self.paths:
            found = [
                (layer, self.mapping.rules_for(layer.layer)) for layer in layers_of(path, self.mapping.crs)
            ]
            chosen = [(layer, rules) for layer, rules in found if rules]
            if not chosen:
                names = listed(f"'{layer.layer}'" for layer, _ in found)
                raise LoadError(
                    f"{path}: {self.mapping.path} has no rules for its layers {names}. "
                    "Add [[layers]] with one of them."
                )
            for layer, rules in chosen:
                _check_columns(layer, rules)
            self.layers += chosen

    @property
    def count(self) -> int | None:
        """The number of features, if all files give it."""
        counts = [layer.count for layer, _ in self.layers]
        return None if None in counts else sum(count for count in counts if count is not None)

    def features(
        self, on_features: OnFeatures = lambda count: None, *, partial: bool = False
    ) -> Iterator[MappedFeature]:
        """The features covered by a rule, in the order of the files.

        An empty geometry is left out and noted. So are unusable features with `partial`; without it they
        raise FeatureRefused. Raises LoadError where a file is truncated.
        """
        for layer, rules in self.layers:
            for record in layer.records():
                self.read += 1
                on_features(1)
                try:
                    mapped = self._mapped(layer, record, rules, partial=partial)
                except MappingError as error:
                    error_of_feature = refused(layer.path, record.number, error)
                    if not partial:
                        raise error_of_feature from error
                    self._note(f"{error_of_feature} It is left out.")
                    continue
                if mapped is None:
                    self.passed_over += 1
                else:
                    yield mapped

    def _mapped(
        self, layer: FeatureLayer, record: Record, rules: Sequence[LayerRules], *, partial: bool
    ) -> MappedFeature | None:
        for one in rules:
            kind = one.class_of(record)
            if kind is None:
                continue
            feature = one.iri_of(record, self.base)
            self._check_new(feature.value)
            triples = tuple(one.triples(record, feature, kind, self.base))
            if one.with_geometry:
                self._look_at_geometry(layer, record, partial=partial)
            return MappedFeature(layer.path, record.number, triples)
        return None

    def _look_at_geometry(self, layer: FeatureLayer, record: Record, *, partial: bool) -> None:
        """Count a feature without a geometry, and note the reason. Raises MappingError."""
        if record.geometry is not None and not record.geometry.is_empty:
            return
        if record.fault is not None and not partial:
            raise MappingError(record.fault)
        self.without_geometry += 1
        fault = "its geometry is empty." if record.geometry is not None else record.fault
        if fault is not None:
            self._note(f"{refused(layer.path, record.number, fault)} It is loaded without geometry.")

    def _note(self, note: str) -> None:
        self.left_out += 1
        if len(self.notes) < FIRST:
            self.notes.append(note)

    def _check_new(self, iri: str) -> None:
        known = hash(iri)
        if known in self._seen:
            raise MappingError(
                f"an earlier feature is <{iri}> already. Make 'iri' of the mapping distinguish them."
            )
        self._seen.add(known)

    @property
    def name(self) -> str:
        """The names of the files, with the counts of their features."""
        names = listed(self.paths)
        facts = [f"{self.read} features"]
        facts += [f"{self.passed_over} skipped"] if self.passed_over else []
        facts += [f"{self.without_geometry} without geometry"] if self.without_geometry else []
        facts += [f"{self.left_out} with something left out"] if self.left_out else []
        return f"{names} ({', '.join(facts)})"


def feature_files(paths: Sequence[Path], mapping: Path | None, base: str) -> FeatureFiles:
    """Feature files with their mapping. Raises LoadError and MappingError."""
    if mapping is None:
        raise LoadError(
            f"{paths[0]} holds features: say with a mapping file (--mapping; `mapping` in a request) how "
            "they become statements."
        )
    return FeatureFiles(paths, read_feature_mapping(mapping), base)


def load_through_gate(
    writer: Writer,
    known: TripleSource,
    files: FeatureFiles,
    *,
    partial: bool = False,
    on_features: OnFeatures = lambda count: None,
    on_derived: OnDerived = lambda triples: None,
) -> LoadResult:
    """Commit features in batches. Without `partial` the first batch with a refusal ends the load.

    Earlier commits stay, and the error says how many features they hold. `known` is the graph: a feature
    with another geometry in it gets the new one instead, in the same commit. Raises LoadError.
    """
    accepted = refused_count = derived = 0
    revision: int | None = None
    examples: list[str] = []
    features = files.features(partial=partial)
    done = reported = remarks = 0
    while batch := _next_batch(features, done):
        statements = tuple(Statement(triple) for feature in batch for triple in feature.triples)
        triples = [one.triple for one in statements]
        outdated = outdated_geometry(known, triples)
        # A part is loaded: only where the new one is accepted.
        replaces = replacements(known, triples, outdated) if partial else frozenset()
        outdated -= {old for _, old in replaces}
        verdict = writer.commit(
            Change(additions=statements, removals=outdated, replaces=replaces, partial=partial)
        )
        if verdict.rejected and not partial:
            raise LoadError(
                f"{_place(batch, verdict.rejected[0])}: {describe(verdict.rejected).rstrip('.')}. "
                f"The {done} features before its batch of {len(batch)} are loaded; {_LEAVE_OUT}"
            )
        done += len(batch)
        on_features(files.read - reported)
        reported = files.read
        accepted += len(verdict.accepted)
        refused_count += len(verdict.rejected)
        derived += len(verdict.derived.additions)
        on_derived(verdict.derived.additions)
        revision = verdict.revision or revision
        notable = [*verdict.rejected, *verdict.warnings]
        remarks += len(notable)
        room = max(0, FIRST - len(examples))
        examples += [f"{_place(batch, one)}: {describe([one])}" for one in notable[:room]]
    on_features(files.read - reported)
    lines = "\n".join([*first_of(files.notes, files.left_out), *first_of(examples, remarks)])
    return LoadResult(files.name, accepted, refused_count, derived, revision, lines, left_out=files.left_out)


def _next_batch(features: Iterator[MappedFeature], done: int) -> list[MappedFeature]:
    """The next features; an error says how many were `done` before."""
    try:
        return list(islice(features, BATCH))
    except LoadError as error:
        before = f"The {done} features before its batch of {BATCH} are loaded"
        raise _ended(error, before if done else "Nothing was loaded") from error


def _ended(error: LoadError, kept: str) -> LoadError:
    """The error of a failed load, with what is kept of it and what to do."""
    hint = f"; {_LEAVE_OUT}" if isinstance(error, FeatureRefused) else "."
    return LoadError(f"{str(error).rstrip('.')}. {kept}{hint}")


def quads_of(
    files: FeatureFiles,
    on_features: OnFeatures = lambda count: None,
    note: Callable[[Sequence[Triple]], None] = lambda triples: None,
    *,
    partial: bool = False,
) -> Iterator[Quad]:
    """The statements of all features, for a bulk load; `note` is called with those of each feature."""
    features = files.features(partial=partial)
    while True:
        try:
            feature = next(features)
        except StopIteration:
            break
        except LoadError as error:
            raise _ended(error, "Nothing was loaded") from error
        on_features(1)
        note(feature.triples)
        for triple in feature.triples:
            yield Quad(triple.subject, triple.predicate, triple.object)


def _place(batch: Sequence[MappedFeature], rejection: Rejection) -> str:
    """The file and number of a statement's feature."""
    for feature in batch:
        if rejection.statement.triple in feature.triples:
            return f"{feature.path}, feature {feature.number}"
    return str(batch[0].path)


def _check_columns(layer: FeatureLayer, rules: Sequence[LayerRules]) -> None:
    if layer.columns is None or layer.count == 0:
        return
    missing = sorted({name for one in rules for name in one.columns} - set(layer.columns))
    if missing:
        raise LoadError(
            f"{layer.path}: layer '{layer.layer}' has no column '{missing[0]}'; "
            f"it has {listed(layer.columns)}. Fix the mapping."
        )


def outdated_geometry(source: TripleSource, triples: Iterable[Triple]) -> frozenset[Triple]:
    """Literals and types of these triples' geometries that are in the graph but not in the triples."""
    said = set(triples)
    nodes = {one.subject for one in said if one.predicate == GEO.asWKT}
    return frozenset(
        known
        for node in nodes
        for predicate in (GEO.asWKT, RDF.type)
        for known in source.match(node, predicate, None)
        if known not in said and (predicate == GEO.asWKT or _is_kind(known.object))
    )


def replacements(
    source: TripleSource, triples: Iterable[Triple], outdated: Collection[Triple]
) -> frozenset[tuple[Triple, Triple]]:
    """Pairs of a new literal, which may be refused, and what of `outdated` it replaces."""
    new = {one.subject: one for one in triples if one.predicate == GEO.asWKT and not any(source.match(*one))}
    return frozenset((new[old.subject], old) for old in outdated if old.subject in new)


def _is_kind(term: object) -> bool:
    return isinstance(term, NamedNode) and term.value.startswith(SF.iri)


_OVERLAPS: Final = GEO.rcc8po
_TOLERANCES_M: Final = (1, 20, 200)
_MOST_PAIRS: Final = 2_000
"""So many overlaps are looked at, which takes about a second."""
_HOLDS: Final = frozenset({RCC8.TPP, RCC8.NTPP, RCC8.TPPi, RCC8.NTPPi, RCC8.EQ})
_Node = NamedNode | BlankNode


class ToleranceEffect:
    """Collects the overlaps that a load derived, and counts what other relations tolerances would give."""

    def __init__(self) -> None:
        self._pairs: set[tuple[_Node, _Node]] = set()
        self.overlaps = 0

    def note(self, derived: Iterable[Triple]) -> None:
        """Take the derived relations of one commit."""
        for triple in derived:
            one, other = triple.subject, triple.object
            if triple.predicate == _OVERLAPS and str(one) < str(other):
                self.overlaps += 1
                if len(self._pairs) < _MOST_PAIRS and isinstance(other, NamedNode | BlankNode):
                    self._pairs.add((one, other))  # type: ignore[arg-type]

    def message(self, geometries: Callable[[_Node], Sequence[BaseGeometry]]) -> str:
        """What each tolerance would make of the overlaps; empty without any."""
        shapes = [
            (left[0], right[0])
            for one, other in sorted(self._pairs, key=str)
            if len(left := geometries(one)) == 1 and len(right := geometries(other)) == 1
        ]
        if not shapes:
            return ""
        effects = []
        for meters in _TOLERANCES_M:
            found = [relate_within(left, right, meters).rcc8 for left, right in shapes]
            inside = sum(one in _HOLDS for one in found)
            beside = sum(one is RCC8.EC for one in found)
            effects.append(f"at {meters} m {inside} would lie in the other and {beside} would only touch it")
        looked = "" if len(shapes) == self.overlaps else f" (of the first {len(shapes)})"
        return (
            f"{self.overlaps} pairs of features overlap, since tolerance_m is 0{looked}: "
            f"{'; '.join(effects)}. "
            "Set tolerance_m, or layer_tolerance_m for a class, if the borders may be off so far."
        )
