"""Answers questions beside the event loop: on a thread with a loop of its own, each within its budget.

Linking, planning and wording are pure Python and would keep everybody else waiting. Queries and calls of the
model go back to the loop of the caller, which owns the readers and the connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from extractors.models.chat import ChatModel, Message, PromptProfile, Reply
from server.runtime.asking_thread import AskingThread, at_home
from sparql.ask.budget import Budget, current_budget
from sparql.ask.linking.summary import DataSummary, RunQuery
from sparql.ask.service import Asker, AskResult, Watch
from sparql.model.errors import QueryTimeout
from sparql.workers.query import QueryService

__all__ = ["ModelOfCaller", "ThreadedAsker", "query_of_caller"]


def query_of_caller(readers: QueryService) -> RunQuery:
    """Runs queries by readers that belong to the loop of the caller, within the budget."""

    async def query(text: str) -> Mapping[str, Any]:
        budget = current_budget()
        with budget.querying() as left_s:
            limit_s = left_s if left_s < float("inf") else None
            try:
                return await at_home(readers.solutions(text, timeout_s=limit_s))
            except QueryTimeout as error:
                if limit_s is None:
                    raise
                raise budget.queries_too_slow() from error

    return query


class ModelOfCaller:
    """A model whose connections belong to the loop of the caller (a `ChatModel`)."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def prompt_profile(self) -> PromptProfile:
        return self._model.prompt_profile

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Ask the model on the caller's loop."""
        return await at_home(
            self._model.complete(messages, schema=schema, max_tokens=max_tokens, temperature=temperature)
        )

    async def close(self) -> None:
        """The model is closed by its owner."""


class ThreadedAsker:
    """An `Asker` as the server calls it: from any loop, without making that loop wait."""

    def __init__(self, asker: Asker, thread: AskingThread) -> None:
        self._asker = asker
        self._thread = thread

    @property
    def summary(self) -> DataSummary:
        """The summary of the data."""
        return self._asker.summary

    async def prepare(self) -> None:
        """See `Asker.prepare`."""
        await self._thread.run(self._asker.prepare, Budget.endless())

    async def ask(
        self, question: str, *, context: str = "", history: Sequence[str] = (), watch: Watch | None = None
    ) -> AskResult:
        """See `Asker.ask`. Raises `QuestionTooInvolved` with the budget used up, and `QuestionsRefused`."""
        loop = asyncio.get_running_loop()

        def note(step: dict[str, str]) -> None:
            if watch is not None:
                loop.call_soon_threadsafe(watch, step)

        def work() -> Coroutine[Any, Any, AskResult]:
            return self._asker.ask(question, context=context, history=history, watch=note)

        return await self._thread.run(work, Budget())

    async def run(self, *, plan: Any = None, sparql: str | None = None) -> AskResult:
        """See `Asker.run`; a query of the client's own has the time of any query."""
        budget = Budget() if sparql is None else Budget.endless()
        return await self._thread.run(lambda: self._asker.run(plan=plan, sparql=sparql), budget)
