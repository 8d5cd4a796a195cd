"""The rules of OWL 2 RL as the tables of OWL 2 Profiles, 4.3, write them, and a fixpoint that reads them.

A rule is a text: premises, an arrow, conclusions. The first letter of a variable says what it is drawn from
in generated graphs (`POOLS`; "l" is a cell of a list). Lists are written out, for chains of one
to three steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

from sparql.model.vocabulary import OWL, RDF, RDFS, Namespace

EX = Namespace("http://example.org/")
_VARIABLE = "urn:variable:"
_PREFIXES = f"""@prefix : <{EX.iri}> . @prefix owl: <{OWL.iri}> . @prefix rdf: <{RDF.iri}> .
    @prefix rdfs: <{RDFS.iri}> . @prefix v: <{_VARIABLE}> . """
_CLASSES = [EX.C, EX.D, EX.E]
_PROPERTIES = [EX.p, EX.q, EX.r]
_THINGS = [EX.a, EX.b, EX.c, BlankNode("n")]
_RESTRICTIONS = [BlankNode("r"), EX.R]
POOLS: Mapping[str, list[Any]] = {
    "c": _CLASSES,
    "p": _PROPERTIES,
    "u": _THINGS,
    "o": [*_THINGS, Literal("x")],
    "e": [*_THINGS, *_CLASSES[:2], *_PROPERTIES[:2]],
    "r": _RESTRICTIONS,
    "f": [*_CLASSES, *_RESTRICTIONS],
}
_NAMED = frozenset("cp")
"""Classes and properties that a rule about the schema speaks of have a name, see `closure_by_tables`."""

_RULES = {
    "eq-sym": "v:e1 owl:sameAs v:e2 => v:e2 owl:sameAs v:e1",
    "eq-trans": "v:e1 owl:sameAs v:e2 . v:e2 owl:sameAs v:e3 => v:e1 owl:sameAs v:e3",
    "eq-rep-s": "v:e1 owl:sameAs v:e2 . v:e1 v:p v:o => v:e2 v:p v:o",
    "eq-rep-p": "v:e1 owl:sameAs v:e2 . v:u v:e1 v:o => v:u v:e2 v:o",
    "eq-rep-o": "v:e1 owl:sameAs v:e2 . v:u v:p v:e1 => v:u v:p v:e2",
    "prp-ifp": "v:p a owl:InverseFunctionalProperty . v:u1 v:p v:o . v:u2 v:p v:o => v:u1 owl:sameAs v:u2",
    "prp-symp": "v:p a owl:SymmetricProperty . v:u v:p v:o => v:o v:p v:u",
    "prp-trp": "v:p a owl:TransitiveProperty . v:u v:p v:o1 . v:o1 v:p v:o2 => v:u v:p v:o2",
    "prp-spo1": "v:p1 rdfs:subPropertyOf v:p2 . v:u v:p1 v:o => v:u v:p2 v:o",
    "prp-spo2": "",
    "prp-eqp1": "v:p1 owl:equivalentProperty v:p2 . v:u v:p1 v:o => v:u v:p2 v:o",
    "prp-eqp2": "v:p1 owl:equivalentProperty v:p2 . v:u v:p2 v:o => v:u v:p1 v:o",
    "prp-inv1": "v:p1 owl:inverseOf v:p2 . v:u v:p1 v:o => v:o v:p2 v:u",
    "prp-inv2": "v:p1 owl:inverseOf v:p2 . v:u v:p2 v:o => v:o v:p1 v:u",
    "cls-svf1": "v:r owl:someValuesFrom v:f . v:r owl:onProperty v:p . v:u v:p v:o . v:o a v:f => v:u a v:r",
    "cls-svf2": "v:r owl:someValuesFrom owl:Thing . v:r owl:onProperty v:p . v:u v:p v:o => v:u a v:r",
    "cls-hv1": "v:r owl:hasValue v:o . v:r owl:onProperty v:p . v:u a v:r => v:u v:p v:o",
    "cls-hv2": "v:r owl:hasValue v:o . v:r owl:onProperty v:p . v:u v:p v:o => v:u a v:r",
    "cax-sco": "v:f1 rdfs:subClassOf v:f2 . v:u a v:f1 => v:u a v:f2",
    "cax-eqc1": "v:f1 owl:equivalentClass v:f2 . v:u a v:f1 => v:u a v:f2",
    "cax-eqc2": "v:f1 owl:equivalentClass v:f2 . v:u a v:f2 => v:u a v:f1",
    "scm-sco": "v:c1 rdfs:subClassOf v:c2 . v:c2 rdfs:subClassOf v:c3 => v:c1 rdfs:subClassOf v:c3",
    "scm-eqc1": "v:c1 owl:equivalentClass v:c2 => v:c1 rdfs:subClassOf v:c2 . v:c2 rdfs:subClassOf v:c1",
    "scm-spo": "v:p1 rdfs:subPropertyOf v:p2 . v:p2 rdfs:subPropertyOf v:p3 => v:p1 rdfs:subPropertyOf v:p3",
    "scm-eqp1": "v:p1 owl:equivalentProperty v:p2 "
    "=> v:p1 rdfs:subPropertyOf v:p2 . v:p2 rdfs:subPropertyOf v:p1",
}
"""The rules that inference follows, by name and in the order of the tables."""

NOT_FOLLOWED = {
    # Table 4. Nothing is said to be itself; that two things differ is no conclusion but a contradiction.
    "eq-ref": "trivial", "eq-diff1": "differentFrom", "eq-diff2": "AllDifferent", "eq-diff3": "AllDifferent",
    # Table 5.
    "prp-ap": "trivial", "prp-dom": "shapes", "prp-rng": "shapes", "prp-fp": "FunctionalProperty",
    "prp-irp": "IrreflexiveProperty", "prp-asyp": "AsymmetricProperty", "prp-pdw": "propertyDisjointWith",
    "prp-adp": "AllDisjointProperties", "prp-key": "hasKey", "prp-npa1": "NegativePropertyAssertion",
    "prp-npa2": "NegativePropertyAssertion",
    # Table 6.
    "cls-thing": "trivial", "cls-nothing1": "trivial", "cls-nothing2": "Nothing",
    "cls-int1": "intersectionOf",
    "cls-int2": "intersectionOf", "cls-uni": "unionOf", "cls-com": "complementOf", "cls-avf": "allValuesFrom",
    "cls-maxc1": "maxCardinality", "cls-maxc2": "maxCardinality", "cls-maxqc1": "onClass",
    "cls-maxqc2": "maxQualifiedCardinality", "cls-maxqc3": "onClass", "cls-maxqc4": "maxQualifiedCardinality",
    "cls-oo": "oneOf",
    # Table 7.
    "cax-dw": "disjointWith", "cax-adc": "AllDisjointClasses",
    # Table 8: the datatypes themselves are judged by `sparql.model.lexical` on every way in.
    "dt-type1": "datatypes", "dt-type2": "datatypes", "dt-eq": "datatypes", "dt-diff": "datatypes",
    "dt-not-type": "datatypes",
    # Table 9: what the schema says of itself, and of classes without a name.
    "scm-cls": "trivial", "scm-op": "trivial", "scm-dp": "trivial", "scm-eqc2": "schema",
    "scm-eqp2": "schema",
    "scm-dom1": "shapes", "scm-dom2": "shapes", "scm-rng1": "shapes", "scm-rng2": "shapes",
    "scm-hv": "schema", "scm-svf1": "schema", "scm-svf2": "schema", "scm-avf1": "schema",
    "scm-avf2": "schema", "scm-int": "intersectionOf", "scm-uni": "unionOf",
}  # fmt: skip
"""The other rules, each with the term of OWL whose use `check` names or a shape judges, or with a word.

trivial: it says nothing of things; shapes: judged by the shapes made from it, which a conclusion would
satisfy; datatypes: literals are judged on every way in; schema: what members of named classes follow is drawn
without it.
"""
TABLES = frozenset((*_RULES, *NOT_FOLLOWED))


@dataclass(frozen=True)
class ProfileRule:
    """One rule, with variables as IRIs below `urn:variable:`."""

    name: str
    premises: tuple[Triple, ...]
    conclusions: tuple[Triple, ...]

    @property
    def variables(self) -> list[NamedNode]:
        """The variables of the premises, each once."""
        terms = (term for triple in self.premises for term in triple)
        return list(dict.fromkeys(term for term in terms if _is_variable(term)))

    def instance(self, choose: Callable[[list[Any]], Any]) -> list[Triple]:
        """The premises with a term from its pool for each variable; lists have their own cells and an end."""
        bound = {one: choose(POOLS.get(_kind(one)) or [BlankNode(one.value[-2:])]) for one in self.variables}
        return [triple for one in self.premises if (triple := _filled(one, bound)) is not None]

    def draw(self, graph: Mapping[NamedNode, set[Triple]], every: Iterable[Triple]) -> Iterator[Triple]:
        """What follows in one step."""
        for bound in self._solutions({}, self.premises, graph, set(every)):
            for conclusion in self.conclusions:
                triple = _filled(conclusion, bound)
                if triple is not None:
                    yield triple

    def _solutions(
        self,
        bound: dict[NamedNode, Any],
        premises: tuple[Triple, ...],
        graph: Mapping[NamedNode, set[Triple]],
        every: set[Triple],
    ) -> Iterator[dict[NamedNode, Any]]:
        if not premises:
            yield bound
            return
        first, *rest = premises
        predicate = bound.get(first.predicate, first.predicate)
        for triple in every if _is_variable(predicate) else graph.get(predicate, set()):
            more = dict(bound)
            if all(self._binds(more, *pair) for pair in zip(first, triple, strict=True)):
                yield from self._solutions(more, tuple(rest), graph, every)

    def _binds(self, bound: dict[NamedNode, Any], pattern: Any, term: Any) -> bool:
        if not _is_variable(pattern):
            return bool(pattern == term)
        if self.name.startswith("scm-") and _kind(pattern) in _NAMED and not isinstance(term, NamedNode):
            return False
        return bool(bound.setdefault(pattern, term) == term)


@cache
def profile_rules() -> Mapping[str, tuple[ProfileRule, ...]]:
    """The rules that are followed; that of property chains once for each length."""
    chains = tuple(_read("prp-spo2", _chain(length)) for length in (1, 2, 3))
    return {name: (_read(name, text),) if text else chains for name, text in _RULES.items()}


def closure_by_tables(stated: Iterable[Triple]) -> set[Triple]:
    """The triples and all that the tables conclude, with three exceptions.

    Nothing is said of a class or property and itself, or of the equality of a thing with itself; the rules of
    the schema speak of terms with a name only; that something is of a class without a name is concluded from
    and left out of the result.
    """
    first = set(stated)
    known: set[Triple] = set()
    new = first
    while new:
        known |= new
        graph = by_predicate(known)
        rules = (rule for several in profile_rules().values() for rule in several)
        new = {t for rule in rules for t in rule.draw(graph, known) if not _is_trivial(t)} - known
    return {t for t in known if t in first or t.predicate != RDF.type or not isinstance(t.object, BlankNode)}


def by_predicate(triples: Iterable[Triple]) -> Mapping[NamedNode, set[Triple]]:
    """The triples by their predicates."""
    found: dict[NamedNode, set[Triple]] = defaultdict(set)
    for triple in triples:
        found[triple.predicate].add(triple)
    return found


def _chain(length: int) -> str:
    cells = [f"v:l{number}" for number in range(1, length + 1)] + ["rdf:nil"]
    parts = [f"v:p owl:propertyChainAxiom {cells[0]}"]
    for number in range(1, length + 1):
        parts.append(f"{cells[number - 1]} rdf:first v:p{number} ; rdf:rest {cells[number]}")
    ends = ["v:u", *(f"v:o{number}" for number in range(1, length + 1))]
    parts += [f"{ends[number - 1]} v:p{number} {ends[number]}" for number in range(1, length + 1)]
    return f"{' . '.join(parts)} => v:u v:p {ends[-1]}"


def _read(name: str, text: str) -> ProfileRule:
    premises, _, conclusions = text.partition("=>")
    return ProfileRule(name, tuple(_parse(premises)), tuple(_parse(conclusions)))


def _parse(text: str) -> Iterator[Triple]:
    return (quad.triple for quad in parse(f"{_PREFIXES}{text} .", RdfFormat.TURTLE))


def _is_variable(term: object) -> bool:
    return isinstance(term, NamedNode) and term.value.startswith(_VARIABLE)


def _kind(variable: NamedNode) -> str:
    return variable.value.removeprefix(_VARIABLE)[0]


def _filled(pattern: Triple, bound: Mapping[NamedNode, Any]) -> Triple | None:
    subject, predicate, value = (bound.get(term, term) for term in pattern)
    if isinstance(subject, Literal) or not isinstance(predicate, NamedNode):
        return None
    return Triple(subject, predicate, value)


def _is_trivial(triple: Triple) -> bool:
    orders = (RDFS.subClassOf, RDFS.subPropertyOf, OWL.sameAs)
    return triple.predicate in orders and triple.subject == triple.object
