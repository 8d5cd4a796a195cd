"""Opens the configured language model at its first use, counts its calls, and reports its state."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol, runtime_checkable

from extractors.errors import ModelError
from extractors.models.accounting import Call, MeteredModel, Prices, account
from extractors.models.chat import (
    BlankForm,
    ChatModel,
    FilledForm,
    Message,
    PromptProfile,
    Reply,
    fill_with,
    limit_of,
)
from extractors.models.opening import open_model, prompts_of
from ontology.schema import Schema
from server.background import beside
from server.monitoring.metrics import Metrics
from server.settings import Settings


@runtime_checkable
class Reachable(Protocol):
    """A model behind an address: it can be connected to before its first use, and has a state."""

    async def start(self, schemas: Iterable[Mapping[str, Any]] = ()) -> None:
        """Connect to the server, and let it compile these schemas."""
        ...

    def state(self) -> dict[str, Any]:
        """What is known of the server now."""
        ...


class DeferredModel:
    """Opens a model with `open_` at its first use; until then no weights are read or needed.

    Raises `ModelUnavailable` from `complete` when the model cannot be opened, and tries again next time.
    """

    def __init__(self, open_: Callable[[], ChatModel], *, name: str, prompt_profile: PromptProfile) -> None:
        self._name = name
        self.prompt_profile: PromptProfile = prompt_profile
        self._open = open_
        self._model: ChatModel | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        """The model's own name, once it is open."""
        return self._name if self._model is None else self._model.name

    @property
    def is_open(self) -> bool:
        """Whether it was opened."""
        return self._model is not None

    async def start(self, schemas: Iterable[Mapping[str, Any]] = ()) -> None:
        """Open the model now, and connect to its server if it has one. Raises `ModelError`."""
        model = await self._opened()
        if isinstance(model, Reachable):
            await model.start(schemas)

    def state(self) -> dict[str, Any] | None:
        """The state of the model's server; None if there is none, or before the model was opened."""
        return self._model.state() if isinstance(self._model, Reachable) else None

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog as the model does."""
        model = await self._opened()
        return await model.complete(messages, schema=schema, max_tokens=max_tokens, temperature=temperature)

    async def at_once(self) -> int:
        """How many questions the model takes at a time. Raises what `complete` raises."""
        return await limit_of(await self._opened())

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form as the model does."""
        model = await self._opened()
        return await fill_with(model, form)

    async def _opened(self) -> ChatModel:
        async with self._opening:
            if self._model is None:
                self._model = await asyncio.to_thread(self._open)
        return self._model

    async def close(self) -> None:
        """Let go of the model if it was opened."""
        if self._model is not None:
            await self._model.close()


_log = logging.getLogger("urbankg.model")
_PROBE = (Message("user", "Name three cities."),)
_PROBE_TOKENS = 48


def language_model(settings: Settings, metrics: Metrics, model: ChatModel | None = None) -> MeteredModel:
    """The configured model, opened at its first use, or a given one; its calls are counted."""
    prices = prices_of(settings)
    metrics.expect_model()

    def count(call: Call) -> None:
        metrics.count_call(call, prices)

    return MeteredModel(model or deferred_model(settings), count, metrics.extractions.observe)


def prices_of(settings: Settings) -> Prices:
    """What tokens cost, by the settings."""
    return Prices(settings.model_price_input, settings.model_price_output, settings.model_currency)


def deferred_model(settings: Settings) -> DeferredModel:
    """The configured model, opened at its first use.

    Raises `ModelUnavailable` where the prompts that are set are not those that its adapter was trained on.
    """

    def opened() -> ChatModel:
        from extractors.models.http.endpoint import Timeouts

        return open_model(
            settings.model_url,
            model=settings.model_name,
            adapter=settings.model_adapter,
            api_key=settings.model_api_key,
            timeout_seconds=settings.model_timeout_s,
            timeouts=Timeouts(
                whole=settings.model_timeout_s,
                first_token=min(Timeouts.first_token, settings.model_timeout_s),
                between_tokens=min(Timeouts.between_tokens, settings.model_timeout_s),
            ),
            concurrency=settings.model_concurrency,
            prompts=settings.model_prompts,
        )

    profile = prompts_of(
        settings.model_url,
        model=settings.model_name,
        adapter=settings.model_adapter,
        prompts=settings.model_prompts,
    )
    name = (
        settings.model_adapter or settings.model_name or "unnamed model" if settings.model_url else "embedded"
    )
    return DeferredModel(opened, name=name, prompt_profile=profile)


def model_state(model: ChatModel) -> dict[str, Any]:
    """What is known of the model without a request to it."""
    inner = model.model if isinstance(model, MeteredModel) else model
    if isinstance(inner, DeferredModel):
        state = inner.state()
        return {"kind": "embedded", "opened": inner.is_open} if state is None else state
    return {"kind": "given"}


def model_health(model: ChatModel) -> dict[str, Any]:
    """The public part of that: no address, and no messages of the server."""
    state = model_state(model)
    names = ("kind", "version", "schema", "adapter", "circuit", "opened")
    return {name: state[name] for name in names if name in state}


def model_json(model: MeteredModel, prices: Prices) -> dict[str, Any]:
    """The model's name, its state and its usage since the start."""
    return {"model": model.name, "state": model_state(model), "usage": model.total.json(prices)}


async def probed(model: MeteredModel, prices: Prices) -> dict[str, Any]:
    """The same after a short question, with its time, or why there is no answer."""
    inner, reply, failure = model.model, None, None
    begin = time.monotonic()
    try:
        if isinstance(inner, DeferredModel):
            await inner.start()
            begin = time.monotonic()
        reply = await model.complete(_PROBE, schema=_PROBE_SCHEMA, max_tokens=_PROBE_TOKENS)
    except ModelError as error:
        failure = error
    seconds = time.monotonic() - begin
    probe: dict[str, Any] = {"seconds": round(seconds, 3), "error": None if failure is None else str(failure)}
    if reply is not None:
        probe |= {
            "model": reply.model,
            "adapter": reply.adapter,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "tokens_per_second": round(reply.completion_tokens / seconds, 1) if seconds > 0 else None,
            "log_probabilities": bool(reply.tokens),
        }
    return {**model_json(model, prices), "probe": probe}


_PROBE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"cities": {"type": "array", "items": {"type": "string"}, "maxItems": 3}},
    "required": ["cities"],
}


@contextmanager
def spending(prices: Prices) -> Iterator[dict[str, Any]]:
    """Run a task with its own account; the dict holds what it spent, once it is done."""
    begin = time.monotonic()
    usage: dict[str, Any] = {}
    with account() as spent:
        yield usage
    spent.finish_task(time.monotonic() - begin)
    usage.update(spent.json(prices))


def text_schemas(settings: Settings, profile: PromptProfile, schema: Schema) -> tuple[Mapping[str, Any], ...]:
    """The JSON schemas of replies to a text that are the same for all texts; reads a prompt."""
    from extractors.prompting.methods import method_named
    from extractors.prompting.prompt import extraction_schema, types_schema
    from extractors.readers.dialogs import Ontologist
    from extractors.settings import ExtractionSettings

    if profile == "compact":
        return ()  # a form takes no schema
    method = method_named(settings.extraction_method)
    known = Ontologist(method, ExtractionSettings().profiles[profile], settings.prompts).terms(schema, "")
    if known.note:
        return ()
    types = tuple(types_schema(known.classes, known.allowed(view)) for view in method.views)
    return types or (extraction_schema(known.allowed()),)


@asynccontextmanager
async def connecting(
    model: MeteredModel, schemas: Callable[[], Iterable[Mapping[str, Any]]] = lambda: ()
) -> AsyncIterator[None]:
    """Connect to a model server in the background while the block runs, so that its state is known early.

    It compiles our schemas meanwhile, and those that `schemas` gives: tens of seconds for the enumeration of
    an ontology's relations, for which a text would have to wait otherwise.
    """
    async with beside(_connect(model, schemas)):
        yield


async def _connect(model: MeteredModel, schemas: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
    from extractors.completion.completer import ANSWER_SCHEMA
    from extractors.completion.pair import tools_schema

    inner = model.model
    if not isinstance(inner, DeferredModel):
        return
    try:
        await inner.start((*await asyncio.to_thread(schemas), _PROBE_SCHEMA, ANSWER_SCHEMA, tools_schema()))
    except ModelError as error:
        _log.warning("The model cannot be used yet: %s", error)
        return
    state = model_state(model)
    _log.info(
        "The model is ready",
        extra={name: state.get(name) for name in ("model", "kind", "version", "schema", "adapter")},
    )
