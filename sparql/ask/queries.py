"""Queries that a large model writes where it makes no plan: checked, repaired and voted like plans.

A query only reads, has terms of this graph alone, and uses every word of the question.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pyoxigraph import Literal, NamedNode, Variable

from extractors.prompting.prompt import load_prompt
from geo.functions import FUNCTIONS
from geo.vocabulary import UOM
from sparql.ask.errors import PlanError
from sparql.ask.grammar.items import Context
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import (
    ClassName,
    Comparator,
    DateValue,
    EntityName,
    Meaning,
    Measure,
    More,
    Number,
    Ordinal,
    PropertyName,
    Question,
    Superlative,
    TextValue,
    Word,
)
from sparql.ask.linking.readings import Near as NearWord
from sparql.ask.linking.summary import RunQuery
from sparql.ask.linking.words import Token
from sparql.ask.model import AskedModel, Checked, Examples, Request, listed, offered_terms, read_object, vote
from sparql.ask.plan.sparql import rows_of
from sparql.ask.plan.terms import Aggregate, Side
from sparql.ask.planner import Trace
from sparql.model.errors import SparqlError
from sparql.model.vocabulary import GEO, RDF, RDFS, SKOS, XSD
from sparql.syntax import nodes as n
from sparql.syntax.parser import parse_query
from sparql.syntax.request_facts import QueryForm
from sparql.syntax.tokens import NotUnderstood

_STANDARD: Final = (RDF, RDFS, SKOS, GEO, XSD)
_CALLED: Final = frozenset(function.value for function in FUNCTIONS) | {UOM + "metre"}
_NEGATIONS: Final = frozenset({"unary !", "!", "!=", "NOT IN", "MINUS", "NOT EXISTS"})
_BOUNDS: Final = frozenset({"<", "<=", ">", ">=", "=", "BETWEEN"})
_RANKS: Final = frozenset({"ORDER BY", "MIN", "MAX"})
_CHOICES: Final = frozenset({"UNION", "VALUES", "||", "IN", "|"})
_AGGREGATES: Final[Mapping[Aggregate, frozenset[str]]] = {
    Aggregate.COUNT: frozenset({"COUNT"}),
    Aggregate.SUM: frozenset({"SUM"}),
    Aggregate.AVERAGE: frozenset({"AVG"}),
    Aggregate.LEAST: _RANKS,
    Aggregate.MOST: _RANKS,
}
_WORDS: Final[Mapping[Word, frozenset[str]]] = {
    Word.NOT: _NEGATIONS,
    Word.EXCEPT: _NEGATIONS,
    Word.WITHOUT: _NEGATIONS,
    Word.OUTSIDE: _NEGATIONS,
    Word.OR: _CHOICES,
    Word.PER: frozenset({"GROUP BY"}),
    Word.THAN: _BOUNDS | _RANKS,
    Word.THAN_TO: _BOUNDS,
}


@dataclass(frozen=True)
class KnownTerms:
    """What the graph knows: its properties and classes, and whether an IRI is one of its entities."""

    properties: frozenset[NamedNode]
    classes: frozenset[NamedNode]
    is_entity: Callable[[NamedNode], bool]


def check_query(text: str, known: KnownTerms, linked: LinkedQuestion) -> None:
    """Check a query. Raises `PlanError` with what is to be corrected."""
    try:
        query = parse_query(text).query
    except NotUnderstood as error:
        raise PlanError(f"The query cannot be parsed: {error.reason}.") from error
    if query.form not in (QueryForm.SELECT, QueryForm.ASK):
        raise PlanError("Write a SELECT or ASK query.")
    nodes = tuple(n.walk(query))
    subqueries = (node for node in nodes if isinstance(node, n.Query))
    nested = [node.keyword for node in nodes if isinstance(node, n.Nested)]
    if any(node.dataset_clause for node in subqueries) or {"GRAPH", "SERVICE"} & set(nested):
        raise PlanError("Query the default graph alone: no FROM, GRAPH or SERVICE.")
    _check_terms(nodes, known)
    unused = _Facts.of(nodes).unused(linked)
    if unused:
        raise PlanError(f"The query does not use: {', '.join(token.raw for token in unused)}.")


def _check_terms(nodes: tuple[n.Node, ...], known: KnownTerms) -> None:
    for triple in _triples(nodes):
        if isinstance(triple.verb, Variable):
            continue
        for iri in n.links_of(triple.verb):
            if iri not in known.properties and not any(iri in space for space in _STANDARD):
                raise PlanError(f"The graph has no property {iri}.{_nearest(iri, known.properties)}")
        kind = triple.object if triple.predicate == RDF.type else None
        if isinstance(kind, NamedNode) and kind not in known.classes:
            raise PlanError(f"The graph has no class {kind}.{_nearest(kind, known.classes)}")
    terms = known.properties | known.classes
    for iri in _iris(nodes) - terms:
        standard = any(iri in space for space in _STANDARD) or iri.value in _CALLED
        if not standard and not known.is_entity(iri):
            raise PlanError(f"The graph has no {iri}. Take names, classes and relations from the lists.")


def _nearest(iri: NamedNode, known: frozenset[NamedNode]) -> str:
    near = get_close_matches(iri.value, [iri_.value for iri_ in known], 1)
    return f" Is <{near[0]}> meant?" if near else ""


def _triples(nodes: tuple[n.Node, ...]) -> Iterator[n.TriplePattern]:
    for node in nodes:
        if isinstance(node, n.Statement):
            yield from node.triples


def _terms(nodes: tuple[n.Node, ...]) -> Iterator[object]:
    for triple in _triples(nodes):
        yield from (triple.subject, triple.object)
        if not isinstance(triple.verb, Variable):
            yield from n.links_of(triple.verb)
    for node in nodes:
        match node:
            case n.Constant(term):
                yield term
            case n.Call(iri):
                yield iri
            case n.Values():
                yield from (term for row in node.rows for term in row)


def _iris(nodes: tuple[n.Node, ...]) -> set[NamedNode]:
    return {term for term in _terms(nodes) if isinstance(term, NamedNode)}


@dataclass(frozen=True)
class _Facts:
    """What a query consists of: IRIs, literals, and the names of its constructs."""

    iris: frozenset[NamedNode]
    literals: frozenset[str]
    constructs: frozenset[str]
    numbers: frozenset[float]

    @classmethod
    def of(cls, nodes: tuple[n.Node, ...]) -> _Facts:
        literals = {term.value for term in _terms(nodes) if isinstance(term, Literal)}
        constructs: set[str] = set()
        numbers = {float(value) for value in literals if value.replace(".", "", 1).isdigit()}
        for node in nodes:
            match node:
                case n.Operation(name):
                    constructs.add(name)
                case n.Exists():
                    constructs.add("NOT EXISTS" if node.negated else "EXISTS")
                case n.Nested(keyword):
                    constructs.add(keyword)
                case n.Values():
                    constructs.add("VALUES")
                case n.Call():
                    constructs.add("CALL")
                case n.Query():
                    constructs.add(node.form.name)
                    constructs |= {"ORDER BY"} if node.order else set()
                    constructs |= {"GROUP BY"} if node.grouped else set()
                    numbers |= {float(node.limit or 0), float(node.offset + 1)}
        for triple in _triples(nodes):
            if not isinstance(triple.verb, Variable):
                constructs |= set(_operators(triple.verb))
        return cls(
            frozenset(_iris(nodes)),
            frozenset(literals),
            frozenset(constructs),
            frozenset(numbers),
        )

    def unused(self, linked: LinkedQuestion) -> list[Token]:
        """Return the words of a question that the query does not use."""
        used: set[int] = set()
        for reading in linked.readings:
            if self._supports(reading.meaning):
                used.update(range(reading.start, reading.end))
        if linked.asks_whether and "ASK" not in self.constructs:
            return [linked.tokens[0]]
        return [t for k, t in enumerate(linked.tokens) if k not in used and t.text not in linked.idle]

    def _supports(self, meaning: Meaning) -> bool:
        match meaning:
            case EntityName(term) | ClassName(term) | PropertyName(term):
                return term.iri in self.iris or term.words in self.literals
            case TextValue(_, value):
                return value.value in self.literals
            case Number():
                return float(meaning.value) in self.numbers
            case DateValue():
                return any(text.startswith(meaning.value.value[:4]) for text in self.literals)
            case Ordinal(number):
                return "ORDER BY" in self.constructs and float(number) in self.numbers
            case Question.HOW_MANY:
                return bool({"COUNT", "-"} & self.constructs)
            case Question():
                return True
            case Word() if meaning in _WORDS:
                return bool(_WORDS[meaning] & self.constructs)
            case Word():
                return True
            case _:
                return self._constructs(meaning)

    def _constructs(self, meaning: Meaning) -> bool:
        match meaning:
            case Superlative():
                return bool(_RANKS & self.constructs)
            case Comparator() | More():
                return bool((_BOUNDS | _RANKS) & self.constructs)
            case Aggregate():
                return bool(_AGGREGATES[meaning] & self.constructs)
            case Side() | NearWord() | Measure():
                return "CALL" in self.constructs
            case _:
                # Where things are, and values in a unit, are said by properties or by functions.
                return len(self.iris) > 1


def _operators(path: n.Path) -> Iterator[str]:
    if isinstance(path, n.PathOperator):
        yield path.operator
        for part in path.parts:
            yield from _operators(part)


_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"sparql": {"type": "string"}},
    "required": ["sparql"],
}


class QueryWriter:
    """Has a model write SPARQL. `prompts` is as that of `ModelPlanner`."""

    def __init__(self, model: AskedModel, run_query: RunQuery, prompts: Path | None = None) -> None:
        self._model = model
        self._run_query = run_query
        self._prompt = load_prompt("ask-sparql", prompts)
        self._examples = Examples(prompts)

    async def write(
        self, linked: LinkedQuestion, context: Context, known: KnownTerms | None, trace: Trace
    ) -> str | None:
        """Return the query that found what most did, or None. Raises `ModelError` when no model answers.

        Without `known` terms only the syntax is checked and nothing repaired: what a model does alone.
        """
        terms = offered_terms(linked, context)
        examples = self._examples.like(linked, sparql=True)
        shown = [f"Question: {example.question}\n{example.reply}" for example in examples]
        values = {
            "question": " ".join(linked.text.split()),
            "examples": listed(shown),
            **{
                f"{kind}_list": listed([f"{term.iri} {term.words}" for term in found])
                for kind, found in terms.items()
            },
        }

        async def check(text: str) -> Checked[str]:
            query = str(read_object(text).get("sparql", ""))
            if known is not None:
                check_query(query, known, linked)
            try:
                return Checked(query, _found(await self._run_query(query)))
            except (SparqlError, SyntaxError, ValueError) as error:
                raise PlanError(f"The query cannot be run: {error}.") from error

        request = Request(self._prompt.messages(values), _SCHEMA, "query", 2 if known is not None else 0)
        voted = await vote(self._model, request, check, trace)
        alone = len(voted) == 1 or (len(voted) > 1 and voted[0][1] > voted[1][1])
        return voted[0][0] if alone else None


def _found(results: Mapping[str, Any]) -> Hashable:
    if "boolean" in results:
        return bool(results["boolean"])
    return frozenset(frozenset(str(cell.get("value")) for cell in row.values()) for row in rows_of(results))
