"""The rules that shapes files are checked by before they are put in force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from functools import cached_property
from itertools import combinations

import rdflib
from pyoxigraph import NamedNode
from rdflib.collection import Collection
from rdflib.namespace import OWL, RDF, RDFS, SH, XSD

from ontology import Schema
from ontology.checks.findings import Finding, Level, Rule, TermPositions, in_order
from shapes.authoring.demands import PARAMETERS, Demands, Overrides, all_of, contradictions, demands_of
from shapes.authoring.generating import generate_shapes
from shapes.authoring.syntax import IllFormed, Unsupported, effect, ill_formed, unsupported
from shapes.configuration import Generation
from shapes.graph import add_all, graph_in_memory, to_oxigraph, to_rdflib
from shapes.loading import ShapesFiles
from shapes.model import TARGETS, classes_of
from shapes.paths import parse_path, uses
from shapes.shape_rules import not_run

_DOCUMENTING = frozenset(
    (SH.name, SH.description, SH.message, SH.order, SH.group, RDFS.label, RDFS.comment, RDFS.isDefinedBy)
)
_SHAPE_LISTS = frozenset((SH["and"], SH["or"], SH.xone))
_MEMBERS = frozenset((SH["in"], SH.languageIn))
_NESTED = frozenset((SH["not"], SH.node))
_DEEPEST = 10
"""Generated shapes nest less."""
Demand = tuple[rdflib.term.Node, object]
Key = tuple[rdflib.term.Node, rdflib.term.Node, rdflib.term.Node | None]
"""Kind of target, target and path."""


class RepeatedAxioms:
    """Compares shapes with those generated from a schema in a mode, which are made when first asked for."""

    def __init__(self, graph: rdflib.Graph, schema: Schema, mode: Generation) -> None:
        self._graph = graph
        self._schema = schema
        self._mode = mode

    def includes(self, shape: rdflib.term.Node) -> bool:
        """Whether the generated shapes demand all that a shape demands, of all its targets."""
        keys = _target_keys(self._graph, shape)
        if (
            self._mode == "off"
            or not keys
            or self._graph.value(shape, SH.severity) not in (None, SH.Violation)
        ):
            return False
        demands = _all_demanded(self._graph, shape)
        return bool(demands) and all(demands <= self._demanded(key) for key in keys)

    def _demanded(self, key: Key) -> frozenset[Demand]:
        """What the generated shapes of a target and path demand when nothing is written by hand."""
        graph, by_key = self._generated
        return frozenset(one for shape in by_key.get(key, ()) for one in _all_demanded(graph, shape))

    @cached_property
    def _generated(self) -> tuple[rdflib.Graph, dict[Key, list[rdflib.term.Node]]]:
        """The generated shapes, and those of each target and path: few of them are ever compared."""
        graph = graph_in_memory()
        made = generate_shapes(self._schema, Overrides(graph_in_memory()), self._mode)
        add_all(graph, (tuple(map(to_rdflib, triple)) for triple in made))  # type: ignore[misc]
        by_key: dict[Key, list[rdflib.term.Node]] = {}
        for shape in graph.subjects(SH.severity, SH.Violation):
            for key in _target_keys(graph, shape):
                by_key.setdefault(key, []).append(shape)
        return graph, by_key


def _target_keys(graph: rdflib.Graph, shape: rdflib.term.Node) -> list[Key]:
    """The targets of a shape; none where it has a path that is not one property."""
    path = graph.value(shape, SH.path)
    if path is not None and not isinstance(path, rdflib.URIRef):
        return []
    return [(predicate, target, path) for predicate in TARGETS for target in graph.objects(shape, predicate)]


def _all_demanded(graph: rdflib.Graph, node: rdflib.term.Node) -> frozenset[Demand]:
    """All that a shape demands, comparable: blank nodes as what they demand, lists as sets."""
    return frozenset(_comparable(graph, node, {*TARGETS, SH.path, SH.severity}))


def _comparable(
    graph: rdflib.Graph,
    node: rdflib.term.Node,
    left_out: Container[rdflib.term.Node],
    above: tuple[rdflib.term.Node, ...] = (),
) -> Iterator[Demand]:
    if node in above or len(above) > _DEEPEST:
        # Comparable with nothing that is generated.
        yield node, node
        return
    within = (*above, node)
    for predicate, value in graph.predicate_objects(node):
        if predicate in _DOCUMENTING or predicate in left_out:
            continue
        if predicate == RDF.type and value in (SH.NodeShape, SH.PropertyShape, OWL.NamedIndividual):
            continue
        if predicate in _SHAPE_LISTS:
            yield (
                predicate,
                frozenset(frozenset(_comparable(graph, one, (), within)) for one in Collection(graph, value)),
            )
        elif predicate in _MEMBERS:
            yield predicate, frozenset(Collection(graph, value))
        elif predicate in _NESTED:
            yield predicate, frozenset(_comparable(graph, value, (), within))
        else:
            yield predicate, value


UNKNOWN_TERM = Rule("shape_unknown_term", Level.WARN, "A shape is about a term that the ontology lacks.")
UNKNOWN_SHACL = Rule(
    "shape_unknown_shacl", Level.ERROR, "A term in SHACL's namespace that SHACL does not define."
)
CONTRADICTION = Rule("shape_contradiction", Level.ERROR, "Shapes of one target cannot all be satisfied.")
AGAINST_ONTOLOGY = Rule(
    "shape_against_ontology", Level.WARN, "A shape requires a class that the ontology's range excludes."
)
NEVER_FAILS = Rule("shape_never_fails", Level.WARN, "A shape requires nothing, so it can never fail.")
NEVER_RUNS = Rule("shape_never_runs", Level.WARN, "A shape has no target and no other shape refers to it.")
DEPRECATED = Rule("shape_deprecated_term", Level.WARN, "A shape is about a deprecated term.")
ILL_FORMED = Rule("shape_ill_formed", Level.ERROR, "A shape breaks a syntax rule of SHACL.")
UNSUPPORTED = Rule(
    "shape_unsupported",
    Level.ERROR,
    "A verdict depends on a feature of SHACL that is unsupported; other shapes are put in force.",
    blocks=False,
)
IGNORED = Rule("shape_unsupported", Level.WARN, "A shape has an unsupported feature that has no effect.")
MISSING_MESSAGE = Rule("shape_missing_message", Level.INFO, "A shape has no message for its failures.")
REPEATS_AXIOM = Rule(
    "shape_repeats_axiom", Level.INFO, "A shape only demands what is generated from the ontology's axioms."
)
SWITCHED_OFF = Rule("shape_deactivated", Level.INFO, "A shape is deactivated by sh:deactivated.")

_GEO = "http://www.opengis.net/ont/geosparql#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_STANDARD = tuple(str(namespace) for namespace in (RDF, RDFS, OWL, XSD, SH, _SKOS, _GEO))
_RULE = rdflib.URIRef(str(SH) + "rule")
_REFERENCES = (SH.property, SH.node, SH["not"], SH.qualifiedValueShape)
_LISTS = (SH["and"], SH["or"], SH.xone)
_EVERYTHING = frozenset((OWL.Thing, RDFS.Resource, RDFS.Literal))
_ANY_TEXT = frozenset(("", ".*", "^.*$", "^", "$"))


def lint_shapes(
    files: ShapesFiles, schema: Schema, mode: Generation = "off", *, follows_rules: bool = False
) -> tuple[Finding, ...]:
    """Everything the rules find in the shapes of a folder, the worst first; `mode` of generated ones.

    With `follows_rules` a `sh:rule` is named only where it is not followed.
    """
    wrong = list(ill_formed(files.graph))
    graph = _without(files.graph, wrong)
    unused = tuple(unsupported(graph, not_run(graph) if follows_rules else None))
    linter = _Linter(files, schema, graph, mode, {one.node for one in wrong}, unused)
    return in_order((*linter.ill_formed(wrong), *linter.findings()))


def well_formed(graph: rdflib.Graph) -> rdflib.Graph:
    """The shapes without what is ill-formed in them."""
    return _without(graph, list(ill_formed(graph)))


def _without(graph: rdflib.Graph, wrong: list[IllFormed]) -> rdflib.Graph:
    """The shapes without ill-formed values, so that these hide no other finding."""
    predicates = {(one.node, one.predicate) for one in wrong if one.predicate is not None}
    if not predicates:
        return graph
    rest = graph_in_memory()
    add_all(rest, (triple for triple in graph if triple[:2] not in predicates))
    return rest


def _is_unknown_shacl(term: rdflib.term.Node) -> bool:
    """Whether a term is in SHACL's namespace and not one of SHACL."""
    if not isinstance(term, rdflib.URIRef) or not term.startswith(str(SH)):
        return False
    name = term.removeprefix(str(SH))
    return bool(name) and not effect(name)


class _Linter:
    def __init__(
        self,
        files: ShapesFiles,
        schema: Schema,
        graph: rdflib.Graph,
        mode: Generation,
        wrong: set[rdflib.term.Node],
        unused: tuple[Unsupported, ...],
    ) -> None:
        self._graph = graph
        self._schema = schema
        self._mode = mode
        self._repeated = RepeatedAxioms(graph, schema, mode)
        self._places = TermPositions(files.sources)
        kinds = set(graph.subjects(RDF.type, SH.NodeShape)) | set(graph.subjects(RDF.type, SH.PropertyShape))
        targeted = {node for predicate in TARGETS for node in graph.subjects(predicate, None)}
        self._classes = classes_of(graph)
        self._unused = unused
        self._excused = wrong | {one.node for one in unused} | set(graph.subjects(_RULE, None))
        """Shapes with a finding that says more than what is left of them: they are not called useless."""
        self._referred = set(self._references())
        self._shapes = sorted(kinds | targeted | self._referred, key=str)
        self._owners = self._owner_of_blank_nodes()

    def ill_formed(self, wrong: list[IllFormed]) -> Iterator[Finding]:
        """The findings for what is ill-formed."""
        for one in wrong:
            yield self._finding(
                ILL_FORMED, one.node, one.message, "Correct it: every instance would be refused."
            )

    def findings(self) -> Iterator[Finding]:
        yield from self._vocabulary()
        yield from self._unsupported()
        for shape in self._shapes:
            if self._graph.value(shape, SH.deactivated) == rdflib.Literal(True):
                yield self._finding(
                    SWITCHED_OFF, shape, "is deactivated.", "Remove sh:deactivated to use it."
                )
                continue
            yield from self._terms(shape)
            yield from self._usefulness(shape)
            yield from self._within(shape)
            if self._repeated.includes(shape):
                fix = f"Remove it: with `generate_shapes` {self._mode} nothing changes."
                yield self._finding(REPEATS_AXIOM, shape, "only demands what the ontology's axioms say.", fix)
        yield from self._between()

    def _references(self) -> Iterator[rdflib.term.Node]:
        graph = self._graph
        for predicate in _REFERENCES:
            yield from graph.objects(None, predicate)
        for predicate in _LISTS:
            for head in graph.objects(None, predicate):
                yield from Collection(graph, head)

    def _owner_of_blank_nodes(self) -> dict[rdflib.term.Node, rdflib.URIRef]:
        """The named shape above each blank node, which is where an editor looks for it."""
        owners: dict[rdflib.term.Node, rdflib.URIRef] = {}
        below: dict[rdflib.term.Node, list[rdflib.BNode]] = defaultdict(list)
        for subject, _, value in self._graph:
            if isinstance(value, rdflib.BNode):
                below[subject].append(value)
        waiting = [(node, node) for node in below if isinstance(node, rdflib.URIRef)]
        while waiting:
            node, owner = waiting.pop()
            for value in below.get(node, ()):
                if value not in owners:
                    owners[value] = owner
                    waiting.append((value, owner))  # type: ignore[arg-type]
        return owners

    def _finding(self, rule: Rule, shape: rdflib.term.Node, message: str, fix: str) -> Finding:
        named = shape if isinstance(shape, rdflib.URIRef) else self._owners.get(shape)
        if named is None:
            return Finding(rule, f"A shape without a name {message}", fix)
        return self._places.finding(rule, NamedNode(str(named)), message, fix)

    def _vocabulary(self) -> Iterator[Finding]:
        known: dict[rdflib.term.Node, bool] = {}
        for subject, predicate, value in self._graph:
            for term in (predicate, value):
                if term not in known:
                    known[term] = not _is_unknown_shacl(term)
                if not known[term]:
                    yield self._finding(
                        UNKNOWN_SHACL,
                        subject,
                        f"uses <{term}>, which SHACL does not define: it would have no effect.",
                        "Correct its spelling.",
                    )

    def _unsupported(self) -> Iterator[Finding]:
        for one in self._unused:
            message = f"has {one.feature}, which is unsupported{one.why}: "
            if one.judged:
                message += "the shape does not judge as it is meant to."
                fix = "Say it with SHACL Core or sh:sparql, and with one of the targets of SHACL Core."
                yield self._finding(UNSUPPORTED, one.node, message, fix)
            else:
                message += "it has no effect."
                yield self._finding(IGNORED, one.node, message, "Nothing, if other programs need it.")

    def _terms(self, shape: rdflib.term.Node) -> Iterator[Finding]:
        if not self._schema.classes and not self._schema.properties:
            return
        for term, is_class in self._terms_of(shape):
            iri = NamedNode(str(term))
            known = self._schema.classes.get(iri) if is_class else self._schema.properties.get(iri)
            if known is not None and known.deprecated:
                yield self._finding(
                    DEPRECATED, shape, f"is about {iri}, which is deprecated.", "Use its successor."
                )
            elif known is None and not str(term).startswith(_STANDARD):
                kind = "class" if is_class else "property"
                yield self._finding(
                    UNKNOWN_TERM,
                    shape,
                    f"is about {iri}, which the ontology does not declare as a {kind}.",
                    "Declare it in the ontology, or correct its spelling here.",
                )

    def _terms_of(self, shape: rdflib.term.Node) -> Iterator[tuple[rdflib.URIRef, bool]]:
        graph = self._graph
        for predicate in (SH.targetClass, SH["class"]):
            yield from (
                (term, True) for term in graph.objects(shape, predicate) if isinstance(term, rdflib.URIRef)
            )
        pairs = (
            SH.targetSubjectsOf,
            SH.targetObjectsOf,
            SH.equals,
            SH.disjoint,
            SH.lessThan,
            SH.lessThanOrEquals,
        )
        for predicate in pairs:
            yield from (
                (term, False) for term in graph.objects(shape, predicate) if isinstance(term, rdflib.URIRef)
            )
        path = graph.value(shape, SH.path)
        if path is not None:
            for _, step in uses(parse_path(graph, path)):
                if step.predicate is not None:
                    yield rdflib.URIRef(step.predicate.value), False

    def _usefulness(self, shape: rdflib.term.Node) -> Iterator[Finding]:
        graph = self._graph
        has_target = any((shape, predicate, None) in graph for predicate in TARGETS)
        if not has_target and shape not in self._classes and shape not in self._referred:
            yield self._finding(
                NEVER_RUNS,
                shape,
                "has no target and no shape refers to it.",
                "Give it sh:targetClass or another target.",
            )
        parameters = [(p, value) for p, value in graph.predicate_objects(shape) if p in PARAMETERS]
        if shape in self._excused:
            return
        if not any(self._can_fail(predicate, value) for predicate, value in parameters):
            # A shape that another one refers to may say by its presence (in sh:or) that any value conforms.
            yield self._finding(
                NEVER_FAILS,
                shape,
                "requires nothing that could fail.",
                "Give it a constraint, or remove it.",
            )
        elif has_target and graph.value(shape, SH.message) is None and not self._has_messages(shape):
            yield self._finding(
                MISSING_MESSAGE, shape, "has no sh:message.", "Add one that says what to do about it."
            )

    def _has_messages(self, shape: rdflib.term.Node) -> bool:
        """Whether everything that a shape refers to has messages of its own."""
        inner = [*self._graph.objects(shape, SH.property), *self._graph.objects(shape, SH.sparql)]
        return bool(inner) and all((node, SH.message, None) in self._graph for node in inner)

    def _can_fail(self, predicate: rdflib.term.Node, value: rdflib.term.Node) -> bool:
        if predicate in (SH.minCount, SH.minLength):
            return str(value) != "0"
        if predicate == SH["class"]:
            return value not in _EVERYTHING
        if predicate == SH.pattern:
            return str(value) not in _ANY_TEXT
        if predicate in (SH.closed, SH.uniqueLang):
            return value == rdflib.Literal(True)
        return True

    def _within(self, shape: rdflib.term.Node) -> Iterator[Finding]:
        for path, demands in demands_of(self._graph, shape).items():
            for problem in self._contradictions(demands):
                yield self._finding(CONTRADICTION, shape, f"{_of(path)} {problem}.", "Remove one of the two.")
            yield from self._against_ontology(shape, path, demands)

    def _against_ontology(self, shape: rdflib.term.Node, path: str, demands: Demands) -> Iterator[Finding]:
        try:
            known = self._schema.properties.get(NamedNode(path)) if path else None
        except ValueError:
            return
        for class_ in demands.values.get(SH["class"], ()) if known is not None and known.ranges else ():
            wanted = to_oxigraph(class_)
            assert known is not None
            if isinstance(wanted, NamedNode) and all(
                self._schema.are_disjoint(wanted, r) for r in known.ranges
            ):
                yield self._finding(
                    AGAINST_ONTOLOGY,
                    shape,
                    f"{_of(path)} requires {wanted}, which the ontology's range excludes.",
                    "Change the shape or the rdfs:range.",
                )

    def _between(self) -> Iterator[Finding]:
        """Contradictions between shapes with the same target and path."""
        by_target: dict[tuple[str, str], list[tuple[rdflib.term.Node, Demands]]] = defaultdict(list)
        for shape in self._shapes:
            severity = self._graph.value(shape, SH.severity)
            off = self._graph.value(shape, SH.deactivated) == rdflib.Literal(True)
            if off or severity not in (None, SH.Violation):
                continue
            targets = [(p, t) for p in TARGETS for t in self._graph.objects(shape, p)]
            for path, demands in demands_of(self._graph, shape).items() if targets else ():
                for predicate, target in targets:
                    by_target[f"{predicate} {target}", path].append((shape, demands))
        reported = set()
        for (_, path), entries in by_target.items():
            # What all of them demand together contradicts itself wherever two of them do.
            if not any(self._contradictions(all_of(demands for _, demands in entries))):
                continue
            for (one, first), (other, second) in combinations(entries, 2):
                if one == other or (one, other, path) in reported:
                    continue
                both = all_of((first, second))
                alone = {*self._contradictions(first), *self._contradictions(second)}
                for problem in self._contradictions(both):
                    if problem not in alone:
                        reported.add((one, other, path))
                        yield self._finding(
                            CONTRADICTION,
                            other,
                            f"{_of(path)} {problem}, together with <{one}>.",
                            "Remove one of the two.",
                        )

    def _contradictions(self, demands: Demands) -> Iterator[str]:
        return contradictions(demands, self._graph, self._schema)


def _of(path: str) -> str:
    return f"of the values of {path}" if path else "of its target nodes"
