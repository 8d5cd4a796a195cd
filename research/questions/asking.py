"""Files of questions, a graph in memory to ask them of, and two baselines to compare answers with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    QueryTriples,
    RdfFormat,
    Store,
    Triple,
)

from extractors.errors import ModelError
from extractors.models.chat import ChatModel
from geo.functions import FUNCTIONS
from ontology import Schema
from server.errors import ServerError
from sparql.ask.errors import AskError, PlanError
from sparql.ask.grammar.items import Context
from sparql.ask.grammar.quantities import Quantities
from sparql.ask.linking.linker import LinkedQuestion, QuestionLinker
from sparql.ask.linking.readings import ClassName, EntityName, PropertyName, Question
from sparql.ask.linking.summary import DataSummary
from sparql.ask.model import AskedModel
from sparql.ask.places import NearDistances
from sparql.ask.plan.json_form import as_json
from sparql.ask.plan.nodes import Plan, Set
from sparql.ask.plan.quantities import ValueOf
from sparql.ask.plan.questions import Count, Exists, List, Values
from sparql.ask.plan.sets import And, Kind, Named, PlaceLink, PropertyLink, Related
from sparql.ask.plan.terms import Place, Term
from sparql.ask.plan.typing import Typing
from sparql.ask.planner import Trace
from sparql.ask.queries import QueryWriter
from sparql.ask.service import Asker, AskResult
from sparql.model.errors import SparqlError
from sparql.model.source import Term as StoredTerm
from sparql.model.source import TripleIndex
from sparql.names.labels import LabelIndex, alias_properties
from sparql.spatial.relations import SpatialRelations


@dataclass(frozen=True)
class AskedQuestion:
    """A question with its gold.

    `query` is a SPARQL query whose results are the gold. With `gap` (the kind of what is missing) the
    question has no answer and is to be refused. A `trap` may be refused, or answered as the gold says. The
    questions of a `group` mean the same.
    """

    id: str
    text: str
    category: str = ""
    query: str | None = None
    gap: str | None = None
    trap: bool = False
    group: str | None = None
    history: tuple[str, ...] = ()


def read_questions(path: Path) -> list[AskedQuestion]:
    """Read a file of questions. Raises `ServerError`, which names the line or the member at fault."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ServerError(f"{path} cannot be read: {error.strerror}.") from error
    found = list(_from_yaml(text, path) if path.suffix in (".yml", ".yaml") else _from_lines(text, path))
    if not found:
        raise ServerError(f"{path} holds no question.")
    return found


def _from_lines(text: str, path: Path) -> Iterator[AskedQuestion]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield _of_line(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise ServerError(
                f"{path}, line {number}: {error!r}. A line is an object with id and question."
            ) from error


def _of_line(line: dict[str, Any]) -> AskedQuestion:
    known = {"id", "question", "category", "query", "gap", "trap", "group", "history"}
    if unknown := line.keys() - known:
        raise ValueError(f"unknown members: {', '.join(sorted(unknown))}")
    return AskedQuestion(
        str(line["id"]),
        line["question"],
        line.get("category", ""),
        line.get("query"),
        line.get("gap"),
        bool(line.get("trap", False)),
        line.get("group"),
        tuple(line.get("history", ())),
    )


def _from_yaml(text: str, path: Path) -> Iterator[AskedQuestion]:
    import yaml

    try:
        listed = yaml.safe_load(text)["questions"]
        for one in listed:
            features = [str(f) for f in one.get("features", ())]
            yield AskedQuestion(
                str(one["id"]), one["question"]["en"], " ".join(features), one["query"]["sparql"]
            )
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise ServerError(f"{path} is not a file of TEXT2SPARQL questions: {error}.") from error


_FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
}


class QuestionGraph:
    """Statements of files and an ontology, in memory; RCC8 relations are added where there are none."""

    def __init__(self, files: Sequence[Path], ontology: Path | None) -> None:
        self.schema = Schema.load(ontology) if ontology is not None else Schema.empty()
        self.store = Store()
        for path in files:
            self._load(path)
        if not any(self.store.quads_for_pattern(None, _CONNECTED, None, DefaultGraph())):
            self._relate()
        for triple in self.schema.triples:
            self.store.add(Quad(triple.subject, triple.predicate, triple.object))
        self.labels = LabelIndex(alias_properties(self.schema))
        self.labels.rebuild(self.store.quads_for_pattern(None, None, None, DefaultGraph()))
        self._summary = DataSummary(self.schema)
        self.asker = Asker(schema=self.schema, labels=self.labels, summary=self._summary, run_query=self.run)
        self._linker = QuestionLinker(self.schema, self.labels, self._summary)

    async def run(self, query: str) -> dict[str, Any]:
        """Run a query and return its SPARQL JSON results."""
        results = self.store.query(query, custom_functions=dict(FUNCTIONS))
        assert not isinstance(results, QueryTriples)
        found: dict[str, Any] = json.loads(results.serialize(format=QueryResultsFormat.JSON) or b"")
        return found

    def commit(self, additions: Sequence[Quad]) -> None:
        """Add statements, which the summary of the data follows."""
        self.store.extend(additions)
        self._summary.apply(additions, ())

    async def link(self, question: str) -> tuple[LinkedQuestion, Context]:
        """Link a question, with what planning knows of the data."""
        await self._summary.refresh(self.run)
        linked = await self._linker.link(question, self.run)
        typing = Typing(self.schema, self._summary, self._classes_of)
        quantities = Quantities(typing, self._linker.terms)
        return linked, Context(typing, quantities, NearDistances(self.schema).of)

    def _classes_of(self, iri: NamedNode) -> frozenset[NamedNode]:
        return frozenset(c for entry in self.labels.entries_of(iri) for c in entry.classes)

    def match(
        self, subject: StoredTerm | None, predicate: NamedNode | None, object_: StoredTerm | None
    ) -> Iterator[Triple]:
        """Triples that match a pattern."""
        for quad in self.match_quads(subject, predicate, object_, DefaultGraph()):
            yield quad.triple

    def match_quads(
        self,
        subject: StoredTerm | None,
        predicate: NamedNode | None,
        object_: StoredTerm | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that match a pattern."""
        if isinstance(subject, Literal):
            return iter(())
        return self.store.quads_for_pattern(subject, predicate, object_, graph)

    def _load(self, path: Path) -> None:
        format_ = _FORMATS.get(path.suffix)
        if format_ is None:
            raise ServerError(f"{path}: use a file that ends in {', '.join(_FORMATS)}.")
        try:
            self.store.load(path=str(path), format=format_)
        except (OSError, SyntaxError) as error:
            raise ServerError(f"{path} cannot be loaded: {error}.") from error

    def _relate(self) -> None:
        found = SpatialRelations().catch_up(self, TripleIndex([]))
        self.store.extend(Quad(t.subject, t.predicate, t.object) for t in found.additions)


_CONNECTED = NamedNode("http://www.opengis.net/ont/geosparql#rcc8ec")


class KeywordTemplate:
    """Takes the likeliest class, name and property among the words, and fills one template with them."""

    def __init__(self, graph: QuestionGraph) -> None:
        self._graph = graph

    async def ask(self, question: AskedQuestion) -> AskResult:
        """Answer a question without the questions before it."""
        linked, _ = await self._graph.link(question.text)
        plan = _template(linked)
        if plan is None:
            return AskResult(None)
        try:
            return await self._graph.asker.run(plan=as_json(plan))
        except PlanError:
            return AskResult(None)


class FreeQueries:
    """Has a model write a query from the linked terms, which is run as it is."""

    def __init__(self, graph: QuestionGraph, model: ChatModel) -> None:
        self._graph = graph
        self._writer = QueryWriter(AskedModel(model), graph.run)

    async def ask(self, question: AskedQuestion) -> AskResult:
        """Answer a question without the questions before it."""
        linked, context = await self._graph.link(question.text)
        try:
            query = await self._writer.write(linked, context, None, Trace())
            return await self._graph.asker.run(sparql=query) if query else AskResult(None)
        except (ModelError, AskError, SparqlError, SyntaxError):
            return AskResult(None)


def _template(linked: LinkedQuestion) -> Plan | None:
    found: dict[type, Term] = {}
    for one in sorted(linked.readings, key=lambda one: (one.cost, one.start - one.end)):
        if isinstance(one.meaning, ClassName | EntityName | PropertyName):
            found.setdefault(type(one.meaning), one.meaning.term)
    kind, name, relation = (found.get(sort) for sort in (ClassName, EntityName, PropertyName))
    if name is not None and relation is not None and kind is None:
        return Values(ValueOf((relation,)), Named(name))
    if kind is None:
        return None
    wanted: Set = Kind(kind)
    if name is not None:
        link = PropertyLink(relation) if relation is not None else PlaceLink(Place.WITHIN)
        wanted = And((wanted, Related(link, Named(name))))
    if any(one.meaning is Question.HOW_MANY for one in linked.readings):
        return Count(wanted)
    return Exists(wanted) if linked.asks_whether else List(wanted)
