"""Answers a question with a text, a query and a map, or with what is missing."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pyoxigraph import NamedNode

from ontology.schema import Schema
from sparql.ask.answer import (
    Gap,
    GapKind,
    answer_words,
    data_gap,
    draw_map,
    find_coverage,
    find_shown,
    first_unrecorded,
    is_closed,
    is_settled,
    plain_answer,
    unknown_gap,
    word_gaps,
)
from sparql.ask.budget import Budget, budgeted
from sparql.ask.conversation import Asides, follow_up_words, replaced, without_asides
from sparql.ask.errors import AskError, QuestionTooInvolved
from sparql.ask.grammar.items import Context
from sparql.ask.grammar.quantities import Quantities
from sparql.ask.linking.linker import LinkedQuestion, QuestionLinker, TermFinder
from sparql.ask.linking.readings import EntityName, Reading
from sparql.ask.linking.summary import DataSummary, RunQuery
from sparql.ask.linking.words import Form, forms_of
from sparql.ask.model import AskedModel, ModelPlanner
from sparql.ask.places import NearDistances, StatedPlaces
from sparql.ask.plan.json_form import read_plan, steps_as_json
from sparql.ask.plan.nodes import Compiler, Plan, nodes_of, parts_of
from sparql.ask.plan.questions import Every, Exists, List, Values
from sparql.ask.plan.sets import Named
from sparql.ask.plan.sparql import Outcome, rows_of
from sparql.ask.plan.terms import Term
from sparql.ask.plan.typing import Typing
from sparql.ask.planner import (
    MOST_WORDS,
    Candidate,
    EnumerationPlanner,
    Planner,
    Trace,
    enumerate_plans,
    unplanned_words,
)
from sparql.ask.queries import KnownTerms, QueryWriter
from sparql.names.labels import LabelIndex

LONGEST_QUESTION: Final = 1000
_TRIED: Final = 4
"""Most plans of a question whose queries are run."""
_MUCH_DEARER: Final = 0.6
"""A plan that costs so much more than the cheapest is not run: it answers another question."""
_AS_CHEAP: Final = 0.02
"""Plans within this are equally good: if their results differ, the question is asked back."""
_NEARLY_AS_CHEAP: Final = 0.06
"""The empty result of the cheapest plan is an answer only where no other is so near."""
_KEPT_QUESTIONS: Final = 200
_KEPT_SETS: Final = 50_000
"""Some hundred bytes each."""
Watch = Callable[[dict[str, str]], None]


@dataclass(frozen=True)
class AskResult:
    """The result of a question. `answer` is None when there is no plan or no data; `gaps` then says why.

    `results` are SPARQL 1.1 JSON results (with `boolean` for yes or no), `map` is GeoJSON or None, `plan` has
    the steps in words, the last with the `tree` of the whole plan, `gaps` are JSON objects.
    """

    answer: str | None
    sparql: str | None = None
    plan: list[dict[str, Any]] | None = None
    entities: list[dict[str, Any]] = field(default_factory=list)
    results: Mapping[str, Any] | None = None
    map: dict[str, Any] | None = None
    gaps: list[dict[str, Any]] = field(default_factory=list)
    trace: list[dict[str, str]] = field(default_factory=list)


class Asker:
    """Answers questions over one graph: links, plans, compiles, runs, and reports what is missing.

    `run_query` runs a SPARQL query and returns its JSON results as a dict. `same` gives the entity that
    stands for those that are the same. `summary` follows the graph's
    commits. A `model` is asked where nothing can be enumerated, if it is a large one. `prompts` is a folder
    whose prompt files replace the built-in ones, whose `idle-words.txt` adds words that need no use, and
    whose `ask-examples.jsonl` adds examples for that model.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        labels: LabelIndex,
        summary: DataSummary,
        run_query: RunQuery,
        same: Callable[[NamedNode], NamedNode] = lambda iri: iri,
        model: AskedModel | None = None,
        row_limit: int = 1000,
        prompts: Path | None = None,
    ) -> None:
        self._schema = schema
        self._labels = labels
        self.summary = summary
        self._run_query = run_query
        self._places = StatedPlaces.of(schema)
        self._near = NearDistances(schema)
        self._linker = QuestionLinker(
            schema, labels, summary, prompts / "idle-words.txt" if prompts else None, same
        )
        self._compiler = Compiler(schema, self._places, limit=row_limit, used=summary.has)
        self._kept: tuple[int, int, Context | None] = (-1, 0, None)
        self._terms = TermFinder(schema, labels, summary)
        self._planners: list[Planner] = [EnumerationPlanner()]
        self._queries: QueryWriter | None = None
        if model is not None and model.model.prompt_profile == "full":
            self._planners.append(ModelPlanner(model, self._found, prompts))
            if model.queries:
                self._queries = QueryWriter(model, run_query, prompts)

    async def prepare(self) -> None:
        """Read the summary of the data and the words, so that the first question does not wait for them."""
        await self._refresh()
        await self._linker.link("which", self._run_query)
        self._context()

    async def ask(
        self, question: str, *, context: str = "", history: Sequence[str] = (), watch: Watch | None = None
    ) -> AskResult:
        """Answer a question; `context` narrows it, `history` are the questions before it, the last one last.

        `watch` is called with each step of the trace as it is made.
        Raises `AskError` for a question that is empty or too long, and `ModelError` when the model fails.
        """
        question = _readable(question, "question", required=True)
        context = _readable(context, "context", required=False)
        trace = Trace(watch=watch)
        await self._refresh()
        asked = f"{question.rstrip(' ?.!')} {context}" if context else question
        first, *others = forms_of(asked)
        linked = await self._linker.link_form(asked, first, self._run_query)
        planning = self._context()
        entities = [_entity(linked, reading) for reading in linked.names]
        trace.note(
            "Names come first: only what the graph knows can be asked about.",
            "link",
            "; ".join(f'"{linked.words(r)}" may be {r.meaning.term.words}' for r in linked.names)  # type: ignore[union-attr]
            or "The question holds no name that the graph knows.",
        )
        plans = await self._follow_up(question, history, planning, trace) if history else ()
        plans = plans or await self._plans(linked, others, planning, trace)
        asides = None if plans else await self._asides(question, context)
        if asides is not None:
            trace.note(asides.note, "leave out", asides.asked)
            first, *others = forms_of(asides.asked)
            linked = await self._linker.link_form(asides.asked, first, self._run_query)
            entities = [_entity(linked, reading) for reading in linked.names]
            plans = await self._plans(linked, others, planning, trace)
        query = await self._query(linked, planning, trace) if not plans else None
        if query is not None:
            return replace(await self._queried(query, trace), entities=entities)
        if not plans and len(linked.tokens) > MOST_WORDS and not linked.unread:
            raise QuestionTooInvolved(
                f"it has {len(linked.tokens)} words, and at most {MOST_WORDS} are planned. Ask in a shorter "
                "sentence, or for its parts one by one."
            )
        if not plans:
            gaps = await self._missing(linked)
            trace.note("No plan uses every word.", "explain", " ".join(gap.message for gap in gaps))
            return AskResult(None, entities=entities, gaps=_json(gaps), trace=trace.steps)
        result = await self._answer(plans, planning.typing, trace, entities)
        if asides is not None and result.answer is not None:
            return replace(result, answer=f"{result.answer} {asides.note}")
        return result

    async def _refresh(self) -> None:
        """Read what changed in the data; the next question would have to do it, so it has no limit."""
        with budgeted(Budget.endless()):
            await self.summary.refresh(self._run_query)

    async def _missing(self, linked: LinkedQuestion) -> list[Gap]:
        """Return what is missing where nothing was planned.

        What the ontology can state and the data does not have is missing in the data, not in the ontology.
        """
        typing = Typing(self._schema, self.summary, self._classes_of, self._places, declared=True)
        declared = Context(typing, Quantities(typing, self._linker.terms), self._near.of)
        plans = () if linked.unread else enumerate_plans(linked, declared)
        if plans:
            plan = plans[0].plan
            gaps, _ = await self._gaps(plan, await self._run(plan, typing), typing)
            if gaps:
                return gaps
        return word_gaps(linked, unplanned_words(linked, self._context()))

    async def _asides(self, question: str, context: str) -> Asides | None:
        return await without_asides(question, context, lambda part: self._linker.link(part, self._run_query))

    async def _plans(
        self, linked: LinkedQuestion, others: Sequence[Form], planning: Context, trace: Trace
    ) -> Sequence[Candidate]:
        """Return the plans of a question as it is, else of its other forms.

        A word without any reading cannot be used by any plan. Raises `QuestionTooInvolved` where a planner
        ran out of time and no other has a plan.
        """
        asked = [linked]
        too_involved: QuestionTooInvolved | None = None
        for planner in self._planners:
            for number in range(len(others) + 1):
                if number == len(asked):
                    form = others[number - 1]
                    words = " ".join(token.raw for token in form.tokens)
                    trace.note("The asking word comes first.", "reorder", words)
                    asked.append(await self._linker.link_form(linked.text, form, self._run_query))
                try:
                    plans = () if asked[number].unread else await planner.plan(asked[number], planning, trace)
                except QuestionTooInvolved as error:
                    too_involved = error
                    break
                if plans:
                    return plans
        if too_involved is not None:
            raise too_involved
        return ()

    async def run(self, *, plan: Any = None, sparql: str | None = None) -> AskResult:
        """Run an edited plan (that of a reply, or its tree) or an edited query, and answer again.

        Raises `PlanError` for a plan that does not fit, and what the store raises for a query.
        """
        if (plan is None) is (sparql is None):
            raise AskError('Give either "plan", the tree of a plan, or "sparql", a query.')
        trace = Trace()
        if sparql is not None:
            return await self._queried(sparql, trace)
        await self._refresh()
        typing = self._context().typing
        read = read_plan(plan, self._terms.find)
        read.check(typing)
        return await self._answer([Candidate(read, 0.0)], typing, trace, [])

    async def _query(self, linked: LinkedQuestion, planning: Context, trace: Trace) -> str | None:
        """Return the query that the model writes where nothing was planned, if it may."""
        if self._queries is None or linked.unread:
            return None
        properties = self._schema.properties.keys() | self.summary.uses.keys()
        classes = self._schema.classes.keys() | self.summary.classes
        known = KnownTerms(
            frozenset(properties), frozenset(classes), lambda iri: bool(self._labels.entries_of(iri))
        )
        return await self._queries.write(linked, planning, known, trace)

    async def _queried(self, query: str, trace: Trace) -> AskResult:
        results = await self._run_query(query)
        trace.note("The query is run as it was written.", "query", f"Rows: {len(rows_of(results))}.")
        return AskResult(plain_answer(results, self._terms.find), query, results=results, trace=trace.steps)

    async def _answer(
        self, plans: Sequence[Candidate], typing: Typing, trace: Trace, entities: list[dict[str, Any]]
    ) -> AskResult:
        (plan, outcome), rival = await self._best(plans, typing, trace)
        text, steps = outcome.query.text, steps_as_json(plan)
        if rival is not None:
            either = " Or: ".join(" ".join(one_of.sentences()) for one_of in (plan, rival))
            message = (
                f"The question can be read in two ways, with different answers. {either} Ask more exactly."
            )
            gap = Gap(GapKind.AMBIGUOUS, message)
            trace.note("Two readings are equally good.", "ask back", message)
            return AskResult(None, text, steps, entities, gaps=_json([gap]), trace=trace.steps)
        gaps, unknown = await self._gaps(plan, outcome, typing)
        for gap in gaps:
            trace.note("An empty result is traced to the condition that emptied it.", "explain", gap.message)
        answer = None
        if not unknown:
            ways = self._compiler, typing, self._run_query
            shown, coverage = await gather(
                find_shown(plan, outcome, self._schema, *ways), find_coverage(plan, *ways)
            )
            answer = answer_words(plan, outcome, replace(shown, coverage=coverage))
        return AskResult(
            answer,
            text,
            steps,
            entities,
            outcome.results,
            draw_map(outcome),
            _json(gaps),
            trace.steps,
        )

    async def _best(
        self, plans: Sequence[Candidate], typing: Typing, trace: Trace
    ) -> tuple[tuple[Plan, Outcome], Plan | None]:
        """Run the best plans: the first with a result, and another that is as good and has another result.

        Behind a plan without a result come only those with the same classes and properties.
        """
        first: tuple[Plan, Outcome] | None = None
        chosen: tuple[Plan, Outcome] | None = None
        chosen_cost = 0.0
        for candidate in plans[:_TRIED]:
            plan, cost = candidate.plan, candidate.cost
            if cost > plans[0].cost + _MUCH_DEARER or (chosen and cost > chosen_cost + _AS_CHEAP):
                break
            if chosen is None and first is not None and _terms_of(plan) != _terms_of(first[0]):
                continue
            outcome = await self._run(plan, typing)
            trace.note("The compiled query is run.", "query", f"Found: {outcome.count}.")
            first = first or (plan, outcome)
            if chosen is not None:
                if outcome.count and outcome.found != chosen[1].found:
                    return chosen, plan
                continue
            alone = len(plans) < 2 or plans[1].cost > cost + _NEARLY_AS_CHEAP
            settled = isinstance(plan, Exists | Every) or (
                candidate is plans[0] and alone and is_settled(plan, typing)
            )
            if outcome.count or settled:
                chosen, chosen_cost = (plan, outcome), cost
        assert first is not None
        return chosen or first, None

    async def _run(self, plan: Plan, typing: Typing) -> Outcome:
        query = self._compiler.compile(plan, typing)
        return Outcome(query, await self._run_query(query.text))

    async def _found(self, plan: Plan, context: Context) -> Hashable:
        """Run a plan and return what identifies its answer."""
        return (await self._run(plan, context.typing)).found

    async def _gaps(self, plan: Plan, outcome: Outcome, typing: Typing) -> tuple[list[Gap], bool]:
        """Return what is missing, and whether the question has no answer therefore."""
        ways = self._compiler, typing, self._run_query
        if isinstance(plan, Exists):
            missing = await first_unrecorded(plan.set, *ways)
            if missing is None:
                return [], False
            head = _head(plan.set).phrase()
            message = f"Whether it holds is not recorded: {head} {missing.restriction()}."
            return [Gap(GapKind.DATA, message, 1, head)], True
        answered = plan.is_answered(outcome)
        if isinstance(plan, Every) or (outcome.count and answered):
            return [], False
        gap = await unknown_gap(plan, *ways)
        if gap is not None:
            return [gap], True
        unknown = isinstance(plan, Values) or not answered or not is_closed(plan, typing)
        return [await data_gap(plan, *ways)], unknown

    async def _follow_up(
        self, question: str, history: Sequence[str], planning: Context, trace: Trace
    ) -> Sequence[Candidate]:
        """Return the plan of the question before with a part replaced by what "And in Queens?" names."""
        rest = follow_up_words(question)
        if rest is None:
            return ()
        before = await self._linker.link(
            _readable(history[-1], "question before", required=True), self._run_query
        )
        fragment = await self._linker.link(rest, self._run_query)
        earlier = await self._planners[0].plan(before, planning, trace)
        parts = [*(await self._planners[0].plan(fragment, planning, trace)), *_names(fragment)]
        for part in parts:
            made = replaced(earlier[0].plan, part.plan, planning.typing) if earlier else None
            if made is not None:
                trace.note(
                    "The question goes on from the one before.", "follow up", " ".join(made.sentences())
                )
                return [Candidate(made, part.cost)]
        return ()

    def _context(self) -> Context:
        """Return what planning knows of the data; kept while the data stays, for some questions."""
        version, asked, kept = self._kept
        grown = kept is not None and kept.typing.size > _KEPT_SETS
        if kept is None or grown or version != self.summary.version or asked > _KEPT_QUESTIONS:
            typing = Typing(self._schema, self.summary, self._classes_of, self._places)
            kept, asked = Context(typing, Quantities(typing, self._linker.terms), self._near.of), 0
        self._kept = self.summary.version, asked + 1, kept
        return kept

    def _classes_of(self, iri: NamedNode) -> frozenset[NamedNode]:
        return frozenset(c for entry in self._labels.entries_of(iri) for c in entry.classes)


def _terms_of(plan: Plan) -> frozenset[NamedNode]:
    """The classes and properties of a plan: a reading of the same words in another order has the same."""
    named = {node.entity.iri for node in nodes_of(plan) if isinstance(node, Named)}
    return frozenset(part.iri for part in parts_of(plan) if isinstance(part, Term)) - named


def _head(node: Any) -> Any:
    return node.sets[0] if hasattr(node, "sets") else getattr(node, "set", node)


def _names(linked: LinkedQuestion) -> list[Candidate]:
    """Return the names of a fragment as plans, cheapest first."""
    named = sorted(linked.names, key=lambda reading: reading.cost)
    return [
        Candidate(List(Named(reading.meaning.term)), reading.cost)
        for reading in named
        if isinstance(reading.meaning, EntityName)
    ]


def _readable(text: str, what: str, *, required: bool) -> str:
    if len(text) > LONGEST_QUESTION:
        raise AskError(
            f"The {what} has {len(text):,} characters; at most {LONGEST_QUESTION:,} are read. Shorten it."
        )
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if required and not any(c.isalnum() for c in plain):
        raise AskError(f'The {what} is empty. Ask in a sentence, such as "Which museums are in ...?".')
    return plain


def _entity(linked: LinkedQuestion, reading: Reading) -> dict[str, Any]:
    """Return a linked name as a JSON object; the span is in code points of the question."""
    meaning = reading.meaning
    assert isinstance(meaning, EntityName)
    return {
        "name": linked.words(reading),
        "iri": meaning.term.iri.value,
        "label": meaning.term.words,
        "classes": sorted(iri.value for iri in meaning.classes),
        "start": linked.tokens[reading.start].start,
        "end": linked.tokens[reading.end - 1].end,
        "score": round(max(0.0, 1 - reading.cost), 3),
        "reason": "label" if reading.cost < 0.3 else "near",
    }


def _json(gaps: Sequence[Gap]) -> list[dict[str, Any]]:
    return [gap.as_json() for gap in gaps]
