"""What an edit of ontology or shapes would change in the graph, found out before it is put in force.

Only shapes that say something else than before are run, on target nodes found through the store's indexes;
of the others only the focus nodes whose verdict the changed axioms can touch. Nothing is written.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from pyoxigraph import NamedNode, Triple

from ontology import Schema
from shapes.affected import Pairs
from shapes.digests import shape_digest
from shapes.gate import ShapesGate
from shapes.known_terms import unknown_terms
from shapes.loading import ShapesFiles
from shapes.paths import Repeat, Step, walk
from shapes.prefetch import Prefetched
from shapes.review_item import ReviewItem
from sparql.change import Delta, Reach, Statement, Violation
from sparql.source import Overlay, Term, TripleSource
from sparql.vocabulary import OWL, RDF, RDFS, SH, UKG

__all__ = ["Impact", "Inference", "RuleSet", "ShapeImpact", "measure_impact"]

MOST_TESTED = 40_000
"""Of a shape with more targets, the first so many by name are tested; it tells that it is a part."""
MOST_JUDGED = 2_000
"""Of a shape that so many nodes may fail, these are judged in full; the others are counted as suspects."""
MOST_TOUCHED = 5_000
"""An axiom about classes that so many things are instances of is not followed to each of them."""
_MANY = 500
_BATCH = 100


@dataclass(frozen=True)
class RuleSet:
    """One side of the comparison."""

    schema: Schema
    files: ShapesFiles
    gate: ShapesGate


@dataclass(frozen=True)
class ShapeImpact:
    """One shape: how it changed, and whom that concerns.

    `failing` are violations that are new, `mended` those that go. Of the `targets`, `tested` were tested;
    `suspects` of them may fail, and `judged` of these were run in full. Where that is not all, the numbers
    are of those judged, and the graph holds more.
    """

    name: str
    change: str
    targets: int
    tested: int
    suspects: int
    judged: int
    failing: tuple[Violation, ...]
    mended: tuple[Violation, ...]

    @property
    def is_exact(self) -> bool:
        """Whether all targets were tested, and all that may fail were run in full."""
        return self.tested == self.targets and self.judged == self.suspects


@dataclass(frozen=True)
class Inference:
    """A conclusion that the edit adds or takes away, and how many statements draw it."""

    conclusion: str
    added: bool
    statements: int
    examples: tuple[Term, ...]


@dataclass(frozen=True)
class Impact:
    """All that an edit would change. `waiting` counts the open items of the review queue."""

    shapes: tuple[ShapeImpact, ...]
    passing: tuple[ReviewItem, ...]
    waiting: int
    inferences: tuple[Inference, ...]
    notes: tuple[str, ...] = ()
    """What was not looked at, and how to."""

    @property
    def failing(self) -> tuple[Violation, ...]:
        """Every violation that would be new."""
        return tuple(violation for shape in self.shapes for violation in shape.failing)


def measure_impact(
    source: TripleSource, before: RuleSet, after: RuleSet, queue: Sequence[ReviewItem] = ()
) -> Impact:
    """Compare two rule sets over a graph; `queue` holds the open review items."""
    old, new = before.schema.triples, after.schema.triples
    added, gone = new - old, old - new
    future = Overlay(source, added, gone)
    either = Overlay(source, added)
    changes = _changes(before, after)
    notes, heavy = _heavy(either, (*added, *gone))
    light_added, light_gone = added - heavy, gone - heavy
    touched = after.gate.pairs.of(light_added, light_gone, either, future, []) if added or gone else {}
    back = before.gate.pairs.of(light_gone, light_added, either, source, []) if added or gone else {}
    impacts = []
    for name in sorted({*changes, *touched, *back}):
        impact = _of_shape(name, changes.get(name), source, future, before, after, touched, back)
        if impact is not None:
            impacts.append(impact)
    waiting = [item for item in queue if not item.accepted]
    return Impact(
        tuple(impacts),
        _passing(source, future, before, after, waiting, set(changes), bool(added or gone)),
        len(waiting),
        tuple(_inferences(source, before.schema, after.schema)),
        notes,
    )


def _heavy(source: TripleSource, axioms: Iterable[Triple]) -> tuple[tuple[str, ...], frozenset[Triple]]:
    """Class axioms that concern too many things to follow, and a note on each."""
    notes, heavy = [], set()
    for axiom in axioms:
        if axiom.predicate != RDFS.subClassOf:
            continue
        below = walk(source, axiom.subject, Repeat(Step(RDFS.subClassOf, forward=False)))
        instances = chain.from_iterable(source.match(None, RDF.type, class_) for class_ in below)
        if sum(1 for _ in islice(instances, MOST_TOUCHED + 1)) > MOST_TOUCHED:
            heavy.add(axiom)
            notes.append(
                f"More than {MOST_TOUCHED} things are concerned by the axiom {axiom.subject} rdfs:subClassOf "
                f"{axiom.object}; shapes that stay were not run on them. `urbankg validate` judges all."
            )
    return tuple(sorted(notes)), frozenset(heavy)


def _changes(before: RuleSet, after: RuleSet) -> dict[str, str]:
    """The shapes that are new, gone or say something else, by name."""
    old = {n: shape_digest(before.files.graph, s.node) for n, s in before.gate.pairs.shapes.items()}
    new = {n: shape_digest(after.files.graph, s.node) for n, s in after.gate.pairs.shapes.items()}
    found = dict.fromkeys(old.keys() - new.keys(), "removed")
    found |= dict.fromkeys(new.keys() - old.keys(), "added")
    return found | {name: "changed" for name in old.keys() & new.keys() if old[name] != new[name]}


def _of_shape(
    name: str,
    change: str | None,
    source: TripleSource,
    future: TripleSource,
    before: RuleSet,
    after: RuleSet,
    touched: Pairs,
    back: Pairs,
) -> ShapeImpact | None:
    """One shape judged on both sides; None where nothing comes of it."""
    old_pairs, new_pairs = before.gate.pairs, after.gate.pairs
    if change is None:
        nodes = set(touched.get(name, ())) | set(back.get(name, ()))
        old_nodes = {n for n in nodes if name in old_pairs.shapes and old_pairs.is_target(source, name, n)}
        new_nodes = {n for n in nodes if name in new_pairs.shapes and new_pairs.is_target(future, name, n)}
    else:
        old_nodes = old_pairs.targets(old_pairs.shapes[name], source) if name in old_pairs.shapes else set()
        new_nodes = new_pairs.targets(new_pairs.shapes[name], future) if name in new_pairs.shapes else set()
    targets = old_nodes | new_nodes
    tested = _part(targets)
    new_nodes, old_nodes = new_nodes & tested, old_nodes & tested
    suspects = _suspects(after.gate, future, name, new_nodes)
    formerly = _suspects(before.gate, source, name, old_nodes)
    concerned = sorted(suspects | formerly, key=str)
    judged = set(concerned[:MOST_JUDGED])
    now = _judged(after.gate, future, name, judged & new_nodes)
    then = _judged(before.gate, source, name, judged & old_nodes)
    failing = tuple(violation for key, violation in now.items() if key not in then)
    mended = tuple(violation for key, violation in then.items() if key not in now)
    if change is None and not failing and not mended:
        return None
    return ShapeImpact(
        name=name,
        change=change or "same, other axioms",
        targets=len(targets),
        tested=len(tested),
        suspects=len(concerned),
        judged=len(judged),
        failing=failing,
        mended=mended,
    )


def _part(nodes: set[Term]) -> set[Term]:
    """All of the nodes, or the first by name of too many."""
    return nodes if len(nodes) <= MOST_TESTED else set(sorted(nodes, key=str)[:MOST_TESTED])


def _suspects(gate: ShapesGate, source: TripleSource, name: str, nodes: set[Term]) -> set[Term]:
    """The nodes that may fail a shape. For many nodes all that it reads is read at once."""
    if not nodes:
        return set()
    if len(nodes) > _MANY:
        source = Prefetched(source, gate.pairs.shapes[name].predicates, 5 * len(nodes))
    return set(gate.suspects(source, {name: nodes}).get(name, ()))


def _judged(
    gate: ShapesGate, source: TripleSource, name: str, nodes: Collection[Term]
) -> Mapping[object, Violation]:
    if not nodes:
        return {}
    found = [one for one in gate.check(source, {name: set(nodes)}) if one.severity != SH.Info]
    return {(v.focus, v.component, v.path, v.value, v.severity): v for v in found}


def _passing(
    source: TripleSource,
    future: TripleSource,
    before: RuleSet,
    after: RuleSet,
    waiting: Sequence[ReviewItem],
    changed: set[str],
    axioms: bool,
) -> tuple[ReviewItem, ...]:
    """Items of the queue that were refused for what is no longer demanded."""
    hopeful = _hopeful(waiting, after.schema, changed, axioms)
    found: list[ReviewItem] = []
    for batch in _batches(hopeful):
        passing = _accepted(after.gate, future, batch)
        # What would pass by the old rules too is no effect of the edit.
        known = [item for item in batch if not unknown_terms(before.schema, item.triple)]
        anyway = _accepted(before.gate, source, known)
        found += [item for item in batch if item.triple in passing and item.triple not in anyway]
    return tuple(found)


def _hopeful(
    waiting: Sequence[ReviewItem], schema: Schema, changed: set[str], axioms: bool
) -> list[ReviewItem]:
    """Items that wait only for the rules: those whose reasons have changed, and what waits with them.

    Where a name is refused, the thing that it names is incomplete and waits as well, for a shape that stays.
    """
    by_rules = [
        item
        for item in waiting
        if item.violations
        and not unknown_terms(schema, item.triple)
        and all(v.shape is not None or v.component == UKG.UnknownTerm for v in item.violations)
    ]
    nodes = {
        node
        for item in by_rules
        if axioms or any(v.shape is None or v.shape.value in changed for v in item.violations)
        for node in (item.triple.subject, item.triple.object)
    }
    return [item for item in by_rules if item.triple.subject in nodes or item.triple.object in nodes]


def _batches(items: Sequence[ReviewItem]) -> Iterable[list[ReviewItem]]:
    """Items of one text together, since a name and its kind are judged together; never too many."""
    ordered = sorted(
        items, key=lambda item: (str(item.document or item.source), item.created, item.iri.value)
    )
    batch: list[ReviewItem] = []
    for item in ordered:
        if batch and (len(batch) >= _BATCH or batch[-1].document != item.document):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _accepted(gate: ShapesGate, source: TripleSource, items: Sequence[ReviewItem]) -> set[Triple]:
    statements = tuple(Statement(triple) for triple in dict.fromkeys(item.triple for item in items))
    if not statements:
        return set()
    accepted = gate.select(
        source, statements, frozenset(), lambda a, r: Delta(), partial=True, reach=Reach.UNLIMITED
    ).accepted
    return {statement.triple for statement in accepted}


def _inferences(source: TripleSource, before: Schema, after: Schema) -> Iterable[Inference]:
    """Conclusions from classes, properties and their characteristics that come or go."""
    for added, here, there in ((True, after, before), (False, before, after)):
        for iri in sorted(here.classes, key=lambda one: one.value):
            for upper in sorted(here.superclasses(iri) - there.superclasses(iri) - {iri}, key=str):
                if isinstance(upper, NamedNode) and upper not in (OWL.Thing,):
                    yield from _counted(
                        source, None, RDF.type, iri, f"every {_short(iri)} is a {_short(upper)}", added
                    )
        for iri in sorted(here.properties, key=lambda one: one.value):
            new, old = here.properties[iri], there.properties.get(iri)
            for upper in sorted(here.superproperties(iri) - there.superproperties(iri) - {iri}, key=str):
                yield from _counted(
                    source, None, iri, None, f"what is {_short(iri)} is {_short(upper)}", added
                )
            if new.inverse is not None and (old is None or old.inverse != new.inverse):
                said = f"{_short(iri)} is stated the other way round as {_short(new.inverse)}"
                yield from _counted(source, None, iri, None, said, added)
            for holds, held, word in (
                (new.symmetric, old is not None and old.symmetric, "holds both ways"),
                (new.transitive, old is not None and old.transitive, "carries on from thing to thing"),
            ):
                if holds and not held:
                    yield from _counted(source, None, iri, None, f"{_short(iri)} {word}", added)


def _counted(
    source: TripleSource,
    subject: Term | None,
    predicate: NamedNode,
    value: Term | None,
    conclusion: str,
    added: bool,
) -> Iterable[Inference]:
    matches = iter(source.match(subject, predicate, value))
    examples = tuple(triple.subject for triple in islice(matches, 3))
    statements = len(examples) + sum(1 for _ in matches)
    if statements:
        yield Inference(conclusion, added, statements, examples)


def _short(iri: NamedNode) -> str:
    return iri.value.replace("#", "/").rstrip("/").rpartition("/")[2]
