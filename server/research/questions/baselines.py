"""What answers are compared with: a template over linked keywords, and a model's SPARQL without checks."""

from __future__ import annotations

from extractors.errors import ModelError
from extractors.models.chat import ChatModel
from server.research.questions.graph import QuestionGraph
from server.research.questions.reading import AskedQuestion
from sparql.ask.errors import AskError, PlanError
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import ClassName, EntityName, PropertyName, Question
from sparql.ask.model import AskedModel
from sparql.ask.plan.json_form import as_json
from sparql.ask.plan.nodes import Plan, Set
from sparql.ask.plan.quantities import ValueOf
from sparql.ask.plan.questions import Count, Exists, List, Values
from sparql.ask.plan.sets import And, Kind, Named, PlaceLink, PropertyLink, Related
from sparql.ask.plan.terms import Place, Term
from sparql.ask.planner import Trace
from sparql.ask.queries import QueryWriter
from sparql.ask.service import AskResult
from sparql.model.errors import SparqlError

__all__ = ["FreeQueries", "KeywordTemplate"]


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
