"""Answers a question with a text, a query and a map, or with what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from extractors.grounding.linking import Labels, Linker, LinkReason
from extractors.models.chat import ChatModel
from ontology.schema import Schema
from sparql.ask.answer import count_of, is_empty, state_answer
from sparql.ask.checking import CheckedPlan
from sparql.ask.compiler import Compiler, Query
from sparql.ask.errors import AskError
from sparql.ask.gaps import Gap, data_gap, name_gaps, plan_gaps
from sparql.ask.map import draw_map
from sparql.ask.naming import FoundName, find_names
from sparql.ask.planner import Planner, RunQuery, Trace

__all__ = ["LONGEST_QUESTION", "AskResult", "Asker"]

LONGEST_QUESTION: Final = 1000


@dataclass(frozen=True)
class AskResult:
    """The result of a question. `answer` is None when there is no plan; `gaps` then says why.

    `results` are SPARQL 1.1 JSON results, `map` is GeoJSON or None, `plan` and `gaps` are JSON objects.
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

    `run_query` runs a SPARQL query and returns its JSON results as a dict. `prompts` is a folder whose
    prompt files replace the built-in ones.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        linker: Linker,
        labels: Labels | None = None,
        model: ChatModel,
        run_query: RunQuery,
        row_limit: int = 1000,
        prompts: Path | None = None,
    ) -> None:
        self._schema = schema
        self._linker = linker if labels is None or labels is linker.labels else linker.over(labels)
        self._run_query = run_query
        self._planner = Planner(schema, model, run_query, prompts)
        self._compiler = Compiler(schema, limit=row_limit)

    async def ask(self, question: str, *, context: str = "") -> AskResult:
        """Answer a question; `context` is further advice for the model.

        Raises `AskError` for a question that is empty or too long, and `ModelError` when the model fails.
        """
        question = _readable(question, "question", required=True)
        context = _readable(context, "context", required=False)
        trace = Trace()
        names = find_names(question, self._linker, self._schema)
        entities = [_entity(name) for name in names if name.link.iri is not None]
        trace.note(
            "Names come first: only what the graph knows can be asked about.",
            "link",
            " ".join(name.link.message for name in names)
            or "The question holds no name that the graph knows.",
        )
        unknown = name_gaps(names)
        if unknown:
            return AskResult(None, entities=entities, gaps=_json(unknown), trace=trace.steps)
        planned = await self._planner.plan(question, names, trace, context=context)
        plan = planned.plan.as_json() if planned.plan is not None else None
        if planned.checked is None:
            gaps = _json(plan_gaps(planned))
            return AskResult(None, plan=plan, entities=entities, gaps=gaps, trace=trace.steps)
        query = self._compiler.compile(planned.checked)
        results, gaps_found = await self._run(planned.checked, query, trace)
        answer = " ".join([state_answer(planned.checked, query, results), *_readings(names)])
        return AskResult(
            answer,
            query.text,
            plan,
            entities,
            results,
            draw_map(query, results),
            _json(gaps_found),
            trace.steps,
        )

    async def _run(
        self, plan: CheckedPlan, query: Query, trace: Trace
    ) -> tuple[Mapping[str, Any], Sequence[Gap]]:
        results = await self._run_query(query.text)
        trace.note("The compiled query is run.", "query", f"Found: {count_of(query, results)}.")
        if not is_empty(query, results):
            return results, ()
        gap = await data_gap(plan, self._compiler, self._run_query)
        trace.note("An empty result is traced to the step that emptied it.", "explain", gap.message)
        return results, (gap,)


def _readable(text: str, what: str, *, required: bool) -> str:
    if len(text) > LONGEST_QUESTION:
        raise AskError(
            f"The {what} has {len(text):,} characters; at most {LONGEST_QUESTION:,} are read. Shorten it."
        )
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if required and not any(c.isalnum() for c in plain):
        raise AskError(f'The {what} is empty. Ask in a sentence, such as "Which museums are in ...?".')
    return plain


def _readings(names: Sequence[FoundName]) -> list[str]:
    """Sentences for names that were linked to labels with a slightly different spelling."""
    return [
        f'"{name.words}" was read as "{name.link.entry.label}".'
        for name in names
        if name.link.reason is LinkReason.NEAR and name.link.entry is not None
    ]


def _entity(name: FoundName) -> dict[str, Any]:
    """Return a linked name as a JSON object; the span is in code points of the normalized question."""
    link = name.link
    assert link.iri is not None
    assert link.entry is not None
    return {
        "name": name.words,
        "iri": link.iri.value,
        "label": link.entry.label,
        "classes": sorted(iri.value for iri in link.entry.classes),
        "start": name.start,
        "end": name.end,
        "score": link.score,
        "reason": link.reason.value,
    }


def _json(gaps: Sequence[Gap]) -> list[dict[str, Any]]:
    return [gap.as_json() for gap in gaps]
