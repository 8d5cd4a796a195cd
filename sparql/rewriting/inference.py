"""`inference=rdfs`: answers also from what RDFS entails (RDF 1.1 Semantics, 9.2), at query time.

The rules are those that say something of the data: subclasses and subproperties, transitive, with domains and
ranges (rdfs2, 3, 5, 7, 9, 11). The axioms are those of the default graph, the ontology's and any others; they
are asked for by probes, so they are of the revision that the query reads. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Variable

from sparql.errors import MalformedRequest
from sparql.rewriting import nodes as n
from sparql.rewriting.parser import ParsedQuery
from sparql.rewriting.patterns import Place, distinct, ends_of, replace_patterns, with_links
from sparql.rewriting.probes import Probe, Steps
from sparql.rewriting.report import Report
from sparql.rewriting.writing import path_text, term_text, triple_text
from sparql.syntax import QueryForm
from sparql.vocabulary import RDF, RDFS

INFERENCE = "inference=rdfs"
_MOST_AXIOMS = 200_000
_AXIOMS = (RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range)


@dataclass
class Axioms:
    """The RDFS axioms: which classes and properties lie under each, and which properties imply a class."""

    subclasses: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)
    subproperties: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)
    domains: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)
    ranges: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)

    def add(self, subject: NamedNode, predicate: NamedNode, value: NamedNode) -> None:
        """Take in an axiom."""
        tables = (self.subclasses, self.subproperties, self.domains, self.ranges)
        tables[_AXIOMS.index(predicate)].setdefault(value, set()).add(subject)

    def classes_under(self, class_: NamedNode) -> set[NamedNode]:
        """A class and all its subclasses."""
        return _closure(self.subclasses, class_)

    def properties_under(self, property_: NamedNode) -> set[NamedNode]:
        """A property and all its subproperties."""
        return _closure(self.subproperties, property_)

    def implying(self, table: dict[NamedNode, set[NamedNode]], class_: NamedNode) -> set[NamedNode]:
        """The properties whose subjects (table `domains`) or objects (`ranges`) are of a class."""
        direct = {one for under in self.classes_under(class_) for one in table.get(under, ())}
        return {under for one in direct for under in self.properties_under(one)}


def infer(parsed: ParsedQuery, report: Report) -> Steps[str]:
    """The query over the RDFS closure. Raises MalformedRequest for what cannot be asked so."""
    if parsed.query.form is QueryForm.DESCRIBE:
        raise MalformedRequest("DESCRIBE tells what is stated; with inference=rdfs use CONSTRUCT instead.")
    axioms = Axioms()
    names = " ".join(map(str, _AXIOMS))
    rows = yield Probe(
        f"SELECT ?s ?p ?o WHERE {{ VALUES ?p {{ {names} }} ?s ?p ?o "
        f"FILTER(isIRI(?s) && isIRI(?o)) }} LIMIT {_MOST_AXIOMS + 1}"
    )
    if len(rows) > _MOST_AXIOMS:
        raise MalformedRequest(
            f"The graph has more than {_MOST_AXIOMS} RDFS axioms; inference=rdfs takes fewer."
        )
    for row in rows:
        terms = (row["s"], row["p"], row["o"])
        if all(isinstance(term, NamedNode) for term in terms):
            axioms.add(*terms)  # type: ignore[arg-type]
    return replace_patterns(parsed, _Entailment(axioms, parsed.text, report).replace)


class _Entailment:
    def __init__(self, axioms: Axioms, text: str, report: Report) -> None:
        self._axioms = axioms
        self._text = text
        self._report = report
        self._count = 0

    def replace(self, triple: n.TriplePattern, place: Place) -> str | None:
        """The elements that stand for one triple pattern; None where RDFS adds nothing."""
        if place.in_graph:
            return None
        verb = triple.verb
        if isinstance(verb, Variable):
            return self._told(triple, self._any_predicate(triple, verb))
        if isinstance(verb, n.Link):
            branches = self._predicate(triple, verb.iri)
            return None if branches is None else self._told(triple, branches)
        changed = with_links(verb, self._step)
        if changed == verb:
            return None
        ends = ends_of(triple, INFERENCE)
        left, right = (term_text(end) for end in ends)
        return self._told(triple, [f"{left} {path_text(changed)} {right}"])

    def _told(self, triple: n.TriplePattern, branches: list[str]) -> str:
        ends: tuple[n.Term, ...] = ends_of(triple, INFERENCE)
        if isinstance(triple.verb, Variable):
            ends = (*ends, triple.verb)
        self._report.did(INFERENCE, triple_text(triple), "with what RDFS entails", branches=len(branches))
        return distinct(ends, " UNION ".join(f"{{ {branch} }}" for branch in branches))

    def _predicate(self, triple: n.TriplePattern, predicate: NamedNode) -> list[str] | None:
        left, right = term_text(triple.subject), term_text(triple.object)
        if predicate == RDF.type:
            return self._types(left, right, triple.object)
        if predicate in (RDFS.subClassOf, RDFS.subPropertyOf):
            return [f"{left} {predicate}+ {right}"]
        under = self._axioms.properties_under(predicate)
        return None if under == {predicate} else [f"{left} {_alternatives(under)} {right}"]

    def _types(self, left: str, right: str, class_: n.Term) -> list[str] | None:
        if not isinstance(class_, NamedNode):
            return self._types_of_any_class(left, right)
        found: list[str] = []
        under = self._axioms.classes_under(class_)
        if under != {class_}:
            name = self._fresh()
            found.append(f"VALUES {name} {{ {_listed(under)} }} {left} {RDF.type} {name}")
        domains = self._axioms.implying(self._axioms.domains, class_)
        if domains:
            found.append(f"{left} {_alternatives(domains)} {self._fresh()}")
        ranges = self._axioms.implying(self._axioms.ranges, class_)
        if ranges:
            found.append(f"{self._fresh()} {_alternatives(ranges)} {left} FILTER(!isLiteral({left}))")
        return [f"{left} {RDF.type} {right}", *found] if found else None

    def _types_of_any_class(self, left: str, right: str) -> list[str]:
        above = f"{RDFS.subClassOf}*"
        property_, value = self._fresh(), self._fresh()
        found = [f"{left} {RDF.type}/{above} {right}"]
        if self._axioms.domains:
            path = f"{RDFS.subPropertyOf}*/{RDFS.domain}/{above}"
            found.append(f"{left} {property_} {value} . {property_} {path} {right}")
        if self._axioms.ranges:
            path = f"{RDFS.subPropertyOf}*/{RDFS.range}/{above}"
            found.append(
                f"{value} {property_} {left} . {property_} {path} {right} FILTER(!isLiteral({left}))"
            )
        return found

    def _any_predicate(self, triple: n.TriplePattern, verb: Variable) -> list[str]:
        left, right, name = term_text(triple.subject), term_text(triple.object), f"?{verb.value}"
        below = self._fresh()
        found = [
            f"{left} {name} {right}",
            f"{left} {below} {right} . {below} {RDFS.subPropertyOf}+ {name}",
            *(f"{left} {axiom}+ {right} BIND({axiom} AS {name})" for axiom in _AXIOMS[:2]),
        ]
        found += [f"{one} BIND({RDF.type} AS {name})" for one in self._types_of_any_class(left, right)]
        return found

    def _step(self, link: n.Link) -> n.Path:
        if link.iri == RDF.type:
            if self._axioms.domains or self._axioms.ranges:
                self._report.leave(INFERENCE, str(link.iri), "domains and ranges do not count within a path")
            above = n.PathOperator("*", (n.Link(RDFS.subClassOf),))
            return n.PathOperator("/", (link, above))
        if link.iri in (RDFS.subClassOf, RDFS.subPropertyOf):
            return n.PathOperator("+", (link,))
        under = self._axioms.properties_under(link.iri)
        if under == {link.iri}:
            return link
        return n.PathOperator("|", tuple(n.Link(iri) for iri in sorted(under, key=str)))

    def _fresh(self) -> str:
        while True:
            self._count += 1
            name = f"?entailed{self._count}"
            if name not in self._text:
                return name


def _closure(table: dict[NamedNode, set[NamedNode]], start: NamedNode) -> set[NamedNode]:
    found, waiting = {start}, [start]
    while waiting:
        for one in table.get(waiting.pop(), ()):
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def _alternatives(iris: Iterable[NamedNode]) -> str:
    return "|".join(sorted(map(str, iris)))


def _listed(iris: Iterable[NamedNode]) -> str:
    return " ".join(sorted(map(str, iris)))
