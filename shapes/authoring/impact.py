"""What an edit of ontology or shapes would change in the graph, measured before it is put in force.

Only changed shapes are run, on target nodes found through the store's indexes; unchanged shapes only on the
focus nodes whose verdict the changed axioms can affect. Nothing is written. The server measures in a process
of its own, on a checkpoint of the store: a shape's query may join everything with everything, and only
killing its process surely stops it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from ontology import Schema
from shapes.authoring.impact_results import (
    BOUNDS,
    Bounds,
    ComparedRules,
    Impact,
    Inference,
    QueuedStatement,
    ShapeImpact,
)
from shapes.authoring.term_changes import RewritePreview
from shapes.gate.affected import Pairs
from shapes.gate.gate import ShapesGate
from shapes.gate.known_terms import unknown_terms
from shapes.paths import Repeat, Step, walk
from sparql.model.change import Delta, Statement, Violation
from sparql.model.source import GraphReading, Overlay, Term, TripleSource
from sparql.model.vocabulary import OWL, RDF, RDFS, SH, UKG
from sparql.provenance.term_rewrites import LEAVE, Rewriting


class BatchLookup:
    """`base`, with all statements of these predicates in memory, except predicates with more than `most`."""

    def __init__(self, base: TripleSource, predicates: Iterable[NamedNode], most: int) -> None:
        self._base = base
        self._held: dict[NamedNode, tuple[dict[Term, list[Triple]], dict[Term, list[Triple]]]] = {}
        for predicate in predicates:
            triples = list(islice(base.match(None, predicate, None), most + 1))
            if len(triples) <= most:
                by_subject: dict[Term, list[Triple]] = {}
                by_object: dict[Term, list[Triple]] = {}
                for triple in triples:
                    by_subject.setdefault(triple.subject, []).append(triple)
                    by_object.setdefault(triple.object, []).append(triple)
                self._held[predicate] = by_subject, by_object

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples that fit the pattern; `None` is a wildcard."""
        held = self._held.get(predicate) if predicate is not None else None
        if held is None or (subject is None and object_ is None):
            yield from self._base.match(subject, predicate, object_)
        elif subject is not None:
            for triple in held[0].get(subject, ()):
                if object_ is None or triple.object == object_:
                    yield triple
        elif object_ is not None:
            yield from held[1].get(object_, ())


NOT_COMPARED = (
    "The rules in force took too long on this graph, so nothing was compared with them: all failures count "
    "as new, and what no longer fails is not counted."
)
NOT_FOLLOWED = (
    "{} statements are rewritten; unchanged shapes were not run on them. `urbankg validate` judges all."
)
_BATCH = 100


def measure_impact(
    source: TripleSource, before: ComparedRules, after: ComparedRules, queue: Sequence[QueuedStatement] = ()
) -> Impact:
    """Compare two rule sets over a graph; `queue` holds the open review items."""
    *_, compared = impact_in_steps(source, before, after, queue)
    return compared


def impact_in_steps(
    source: TripleSource,
    before: ComparedRules,
    after: ComparedRules,
    queue: Sequence[QueuedStatement] = (),
    bounds: Bounds = BOUNDS,
    rewriting: Rewriting | None = None,
) -> Iterator[Impact]:
    """The same in two steps: first only the new rules are run, then the old ones too.

    The result of the first step serves where the old rules take too long: it counts all failures as new. The
    graph is judged as `rewriting` leaves it.
    """
    preview = RewritePreview(source, before.schema, after.schema, rewriting or Rewriting())
    old, new = before.schema.triples, after.schema.triples
    added, gone = new - old, old - new
    future = Overlay(source, added | preview.put, gone | preview.taken)
    changes = changed_shapes(before, after)
    notes, heavy = _heavy(Overlay(source, added), (*added, *gone), bounds.touched)
    if len(preview.put) <= bounds.touched:
        added, gone = added | preview.put, gone | preview.taken
    else:
        notes += (NOT_FOLLOWED.format(len(preview.put)),)
    either = Overlay(source, added)
    light_added, light_gone = added - heavy, gone - heavy
    touched = after.gate.pairs.of(light_added, light_gone, either, future) if added or gone else {}
    back = before.gate.pairs.of(light_gone, light_added, either, source) if added or gone else {}
    runs = [
        _Run(name, changes.get(name), source, future, before, after, touched, back, bounds)
        for name in sorted({*changes, *touched, *back})
    ]
    waiting = [item for item in queue if not item.accepted]
    hopeful = queued_by(waiting, after.schema, set(changes), axioms=bool(added or gone))
    passing = [_accepted(after.gate, future, batch) for batch in _batches(hopeful)]
    inferences = tuple(_inferences(source, before.schema, after.schema))
    found = Impact((), (), len(waiting), inferences, preview.uses, preview.offered)
    for run in runs:
        run.judge_by_new()
    yield replace(
        found, shapes=_results(runs), passing=_items(hopeful, passing), notes=(*notes, NOT_COMPARED)
    )
    slow = before.gate.exceeded & {run.name for run in runs}
    for run in runs:
        if run.name not in slow:
            run.judge_by_old()
    if slow:
        notes += tuple(f"The shape {name} as it is in force takes too long to be compared." for name in slow)
    else:
        anyway = [_passing_before(source, before, batch) for batch in _batches(hopeful)]
        passing = [new - old for new, old in zip(passing, anyway, strict=True)]
    yield replace(found, shapes=_results(runs), passing=_items(hopeful, passing), notes=notes)


def _heavy(
    source: TripleSource, axioms: Iterable[Triple], most: int
) -> tuple[tuple[str, ...], frozenset[Triple]]:
    """Class axioms that concern too many things to follow, and a note on each."""
    notes, heavy = [], set()
    for axiom in axioms:
        if axiom.predicate != RDFS.subClassOf:
            continue
        below = walk(source, axiom.subject, Repeat(Step(RDFS.subClassOf, forward=False)))
        instances = chain.from_iterable(source.match(None, RDF.type, class_) for class_ in below)
        if sum(1 for _ in islice(instances, most + 1)) > most:
            heavy.add(axiom)
            notes.append(
                f"More than {most} things are concerned by the axiom {axiom.subject} rdfs:subClassOf "
                f"{axiom.object}; unchanged shapes were not run on them. `urbankg validate` judges all."
            )
    return tuple(sorted(notes)), frozenset(heavy)


def changed_shapes(before: ComparedRules, after: ComparedRules) -> dict[str, str]:
    """The shapes that are new, gone or changed, by name."""
    old, new = before.digests, after.digests
    found = dict.fromkeys(old.keys() - new.keys(), "removed")
    found |= dict.fromkeys(new.keys() - old.keys(), "added")
    return found | {name: "changed" for name in old.keys() & new.keys() if old[name] != new[name]}


class _Run:
    """One shape judged by both rule sets, the new one first."""

    def __init__(
        self,
        name: str,
        change: str | None,
        source: TripleSource,
        future: TripleSource,
        before: ComparedRules,
        after: ComparedRules,
        touched: Pairs,
        back: Pairs,
        bounds: Bounds,
    ) -> None:
        self.name = name
        self._change = change
        self._bounds = bounds
        self._source, self._future = source, future
        self._before, self._after = before.gate, after.gate
        old, new = before.gate.pairs, after.gate.pairs
        if change is None:
            nodes = set(touched.get(name, ())) | set(back.get(name, ()))
            old_nodes = {n for n in nodes if name in old.shapes and old.is_target(source, name, n)}
            new_nodes = {n for n in nodes if name in new.shapes and new.is_target(future, name, n)}
        else:
            old_nodes = old.targets(old.shapes[name], source) if name in old.shapes else set()
            new_nodes = new.targets(new.shapes[name], future) if name in new.shapes else set()
        self._targets = old_nodes | new_nodes
        self._tested = _part(self._targets, bounds.tested)
        self._new_nodes, self._old_nodes = new_nodes & self._tested, old_nodes & self._tested
        self._suspects: set[Term] = set()
        self._judged: set[Term] = set()
        self._now: Mapping[object, Violation] = {}
        self._then: Mapping[object, Violation] = {}

    def judge_by_new(self) -> None:
        """Find what fails under the new rules."""
        self._suspects = _suspects(self._after, self._future, self.name, self._new_nodes, self._bounds.many)
        self._judged = set(sorted(self._suspects, key=str)[: self._bounds.judged])
        self._now = _judged(self._after, self._future, self.name, self._judged)

    def judge_by_old(self) -> None:
        """Find what failed under the old rules."""
        many = self._bounds.many
        formerly = _suspects(self._before, self._source, self.name, self._old_nodes, many) - self._suspects
        self._judged |= set(sorted(formerly, key=str)[: self._bounds.judged - len(self._judged)])
        self._suspects |= formerly
        self._then = _judged(self._before, self._source, self.name, self._judged & self._old_nodes)

    def result(self) -> ShapeImpact | None:
        """What was found so far; None where nothing changes."""
        failing = tuple(violation for key, violation in self._now.items() if key not in self._then)
        fixed = tuple(violation for key, violation in self._then.items() if key not in self._now)
        if self._change is None and not failing and not fixed:
            return None
        return ShapeImpact(
            name=self.name,
            change=self._change or "same, other axioms",
            targets=len(self._targets),
            tested=len(self._tested),
            suspects=len(self._suspects),
            judged=len(self._judged),
            failing=failing,
            fixed=fixed,
        )


def _results(runs: Iterable[_Run]) -> tuple[ShapeImpact, ...]:
    return tuple(result for run in runs if (result := run.result()) is not None)


def _part(nodes: set[Term], most: int) -> set[Term]:
    """All of the nodes, or the first by name where there are too many."""
    return nodes if len(nodes) <= most else set(sorted(nodes, key=str)[:most])


def _suspects(gate: ShapesGate, source: TripleSource, name: str, nodes: set[Term], many: int) -> set[Term]:
    """The nodes that may fail a shape. For many nodes everything that it reads is read at once."""
    if not nodes:
        return set()
    if len(nodes) > many:
        source = BatchLookup(source, gate.pairs.shapes[name].predicates, 5 * len(nodes))
    return set(gate.suspects(source, {name: nodes}).get(name, ()))


def _judged(
    gate: ShapesGate, source: TripleSource, name: str, nodes: Collection[Term]
) -> Mapping[object, Violation]:
    if not nodes:
        return {}
    found = [one for one in gate.check(source, {name: set(nodes)}) if one.severity != SH.Info]
    return {(v.focus, v.component, v.path, v.value, v.severity): v for v in found}


def _passing_before(
    source: TripleSource, before: ComparedRules, batch: Sequence[QueuedStatement]
) -> set[Triple]:
    """What would pass under the old rules too, and is no effect of the edit."""
    known = [item for item in batch if not unknown_terms(before.schema, item.triple)]
    return _accepted(before.gate, source, known)


def _items(hopeful: Sequence[QueuedStatement], passing: Iterable[set[Triple]]) -> tuple[QueuedStatement, ...]:
    """Queue items refused for something that is no longer required, batch by batch."""
    batches = zip(_batches(hopeful), passing, strict=True)
    return tuple(item for batch, triples in batches for item in batch if item.triple in triples)


def queued_by(
    waiting: Sequence[QueuedStatement], schema: Schema, changed: set[str], *, axioms: bool
) -> list[QueuedStatement]:
    """Items that wait only for the rules: those whose violated shapes changed, and items that depend on them.

    Where a name is refused, the thing that it names is incomplete and waits too, under an unchanged shape.
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


def _batches(items: Sequence[QueuedStatement]) -> Iterable[list[QueuedStatement]]:
    """Items of one text together, since a name and its kind are judged together; at most a batch."""
    ordered = sorted(
        items, key=lambda item: (str(item.document or item.source), item.created, item.iri.value)
    )
    batch: list[QueuedStatement] = []
    for item in ordered:
        if batch and (len(batch) >= _BATCH or batch[-1].document != item.document):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _accepted(gate: ShapesGate, source: TripleSource, items: Sequence[QueuedStatement]) -> set[Triple]:
    statements = tuple(Statement(triple) for triple in dict.fromkeys(item.triple for item in items))
    if not statements:
        return set()
    accepted = gate.select(source, statements, frozenset(), lambda a, r: Delta(), partial=True).accepted
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
                said = f"{_short(iri)} is stated inversely as {_short(new.inverse)}"
                yield from _counted(source, None, iri, None, said, added)
            for holds, held, word in (
                (new.symmetric, old is not None and old.symmetric, "holds in both directions"),
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


def dry_run(
    path: str,
    before: ComparedRules,
    after: ComparedRules,
    queue: Sequence[QueuedStatement],
    bounds: Bounds,
    rewriting: Rewriting,
) -> Iterator[Impact]:
    """The impact, in the steps of `impact_in_steps`, on the checkpoint at `path`."""
    yield from impact_in_steps(_Checkpoint(path), before, after, queue, bounds, rewriting)


class _Checkpoint(GraphReading):
    def __init__(self, path: str) -> None:
        self._graph = pyoxigraph.Store.read_only(path)

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that fit the pattern, of one graph or (None) of all."""
        if isinstance(subject, Literal | Triple):
            return iter(())
        return iter(self._graph.quads_for_pattern(subject, predicate, object_, graph))


@dataclass(frozen=True)
class Comparison:
    """Both sides and the open items of the queue, or that part of them on which the impact depends."""

    before: ComparedRules
    after: ComparedRules
    queue: Sequence[QueuedStatement]
    waiting: int | None = None
    """How many statements wait, where the queue was left out."""

    def whole(self, steps: Iterator[Impact]) -> Iterator[Impact]:
        """The impact of the whole, from that of the parts."""
        for step in steps:
            yield step if self.waiting is None else replace(step, waiting=self.waiting)


def comparison(
    before: ComparedRules,
    after: ComparedRules,
    queue: Sequence[QueuedStatement] = (),
    rewriting: Rewriting = LEAVE,
) -> Comparison:
    """What `impact_in_steps` needs for the same result."""
    if before.schema is not after.schema or rewriting != LEAVE:
        return Comparison(before, after, queue)
    names = changed_shapes(before, after).keys()
    waiting = [item for item in queue if not item.accepted]
    if queued_by(waiting, after.schema, set(names), axioms=False):
        return Comparison(before, after, queue)
    return Comparison(_rules_part(before, names), _rules_part(after, names), (), len(waiting))


def _rules_part(rules: ComparedRules, names: Collection[str]) -> ComparedRules:
    gate = rules.gate.part(names)
    return ComparedRules(Schema.empty(), gate.files, gate)
