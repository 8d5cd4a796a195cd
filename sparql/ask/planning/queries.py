"""Queries that a large model writes where it makes no plan: checked, repaired and voted like plans."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Final

from extractors.prompting.templates import load_prompt
from sparql.ask.errors import PlanError
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.summary import RunQuery
from sparql.ask.plan.sparql import rows_of
from sparql.ask.planning.model import AskedModel, read_object
from sparql.ask.planning.offering import Examples, listed, offered_terms
from sparql.ask.planning.planner import Trace
from sparql.ask.planning.query_use import KnownTerms, check_query
from sparql.ask.planning.rules import Context
from sparql.ask.planning.voting import Checked, Request, vote
from sparql.model.errors import SparqlError

__all__ = ["QueryWriter"]

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
        shown = [f"Question: {one.question}\n{one.reply}" for one in self._examples.like(linked, sparql=True)]
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
        voted = await vote(self._model.model, request, check, self._model.samples, trace)
        alone = len(voted) == 1 or (len(voted) > 1 and voted[0][1] > voted[1][1])
        return voted[0][0] if alone else None


def _found(results: Mapping[str, Any]) -> Hashable:
    if "boolean" in results:
        return bool(results["boolean"])
    return frozenset(frozenset(str(cell.get("value")) for cell in row.values()) for row in rows_of(results))
