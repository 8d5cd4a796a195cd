"""Probes a model server: its model, whether it follows schemas, whether it has the adapter."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any, Final

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelUnavailable
from extractors.models.chat import Message, Reply
from extractors.models.http.canary import (
    CANARY_SCHEMA,
    CANARY_TOKENS,
    SCHEMA_MESSAGES,
    AdapterState,
    SchemaState,
    compare_adapter,
    follows_canary,
)
from extractors.models.http.endpoint import AttemptFailed, Endpoint
from extractors.models.http.replies import read_reply
from extractors.models.http.reply_watch import ReplyWatch
from extractors.models.http.servers import ModelServer, SchemaMode, ServerKind, response_format

__all__ = ["ProbedServer", "chat_request", "probe_server"]

_log = logging.getLogger("urbankg.model")
_REFUSES: Final = (400, 415, 422)


@dataclass(frozen=True)
class ProbedServer:
    """The result of a probe; `model` is what requests name, `at` is the time of the probe."""

    server: ModelServer
    mode: SchemaMode
    schema: SchemaState
    adapter: AdapterState
    model: str | None
    wanted: str | None
    at: float

    @property
    def name(self) -> str | None:
        """The model or adapter, as it is shown."""
        return shown(self.model) if self.model else None

    @property
    def base(self) -> str | None:
        """The base model's name, if the server reports it."""
        return shown(self.server.base) if self.server.base else None

    @property
    def adapter_name(self) -> str | None:
        """The LoRA adapter in force."""
        if self.adapter is AdapterState.NONE:
            return None
        return self.wanted or "+".join(self.server.adapters) or None


def chat_request(
    server: ModelServer,
    model: str | None,
    messages: Sequence[Message],
    max_tokens: int,
    temperature: float,
) -> dict[str, Any]:
    """The body of a chat completion as this kind of server takes it."""
    request: dict[str, Any] = {
        "model": model or "default",
        "messages": [asdict(message) for message in messages],
        "max_completion_tokens" if server.kind is ServerKind.OPENAI else "max_tokens": max_tokens,
        "temperature": temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if server.gives_logprobs:
        request["logprobs"] = True
    if server.kind is ServerKind.LLAMA_CPP:
        request["top_logprobs"] = 1  # else it sends twenty with each token
    return request


async def probe_server(
    endpoint: Endpoint, server: ModelServer, wanted: str | None, at: float
) -> ProbedServer:
    """Test what a server does not report, and log warnings.

    Raises `ModelUnavailable` when it does not serve the model or adapter that is `wanted`, and
    `AttemptFailed` when it could not be asked.
    """
    model = wanted or server.base or next(iter(server.models), None)
    adapter = await _adapter_state(endpoint, server, wanted)
    mode, schema = await _schema_state(endpoint, server, model)
    if adapter is AdapterState.UNSURE:
        _log.warning("the model server's answers do not show whether it has the adapter %r", wanted)
    if mode is SchemaMode.SPELLED:
        _log.warning(
            "the model server at %s %s JSON schemas: prompts spell the format out, and replies are checked "
            "here; expect more unusable replies",
            endpoint.shown,
            "ignores" if schema is SchemaState.DROPPED else "refuses",
        )
    return ProbedServer(server, mode, schema, adapter, model, wanted, at)


async def _schema_state(
    endpoint: Endpoint, server: ModelServer, model: str | None
) -> tuple[SchemaMode, SchemaState]:
    modes = {ServerKind.OPENAI: (SchemaMode.NAMED,), ServerKind.OTHER: (SchemaMode.BOTH, SchemaMode.NAMED)}
    tried = modes.get(server.kind, (SchemaMode.BOTH,))
    for mode in tried:
        request = chat_request(server, model, SCHEMA_MESSAGES, CANARY_TOKENS, 0.0)
        request["response_format"] = response_format(mode, CANARY_SCHEMA)
        try:
            body = await endpoint.chat(request, ReplyWatch(None))
            text = str(body["choices"][0]["message"]["content"] or "")
        except AttemptFailed as failed:
            if failed.status in _REFUSES:
                continue
            if isinstance(failed.error, ModelReplyError):
                return tried[0], SchemaState.UNKNOWN
            raise
        except (KeyError, IndexError, TypeError):
            return tried[0], SchemaState.UNKNOWN
        if follows_canary(text):
            return mode, SchemaState.HONORED
        # A model that thinks before it speaks may not have come to its answer.
        return (SchemaMode.SPELLED, SchemaState.DROPPED) if text else (mode, SchemaState.UNKNOWN)
    return SchemaMode.SPELLED, SchemaState.REFUSED


async def _adapter_state(endpoint: Endpoint, server: ModelServer, wanted: str | None) -> AdapterState:
    if wanted is None:
        return AdapterState.LISTED if server.adapters_always else AdapterState.NONE
    if wanted in server.adapters:
        return AdapterState.LISTED
    if wanted in server.models or (server.base is not None and wanted == shown(server.base)):
        return AdapterState.NONE
    if server.kind is ServerKind.TGI and server.base is not None:
        found = await _compared(endpoint, server, server.base, wanted)
        if found is not AdapterState.MISSING:
            return found
    elif not server.models:
        return AdapterState.NONE
    offered = ", ".join(map(shown, dict.fromkeys((*server.models, *server.adapters))))
    raise ModelUnavailable(
        f"the model server at {endpoint.shown} does not offer {wanted!r}; it offers {offered}: configure one "
        "of these (model_name), or load the adapter there"
    )


async def _compared(endpoint: Endpoint, server: ModelServer, base: str, wanted: str) -> AdapterState:
    async def ask(model: str, messages: tuple[Message, ...], max_tokens: int) -> Reply:
        body = dict(
            await endpoint.chat(chat_request(server, model, messages, max_tokens, 0.0), ReplyWatch(None))
        )
        try:
            choice = {**body["choices"][0], "finish_reason": "stop"}  # cut off on purpose
        except (KeyError, IndexError, TypeError):
            choice = {}
        return read_reply(
            {**body, "choices": [choice]}, structured=False, seconds=0.0, model=model, adapter=None
        )

    try:
        return await compare_adapter(ask, base, wanted)
    except ModelReplyError:
        return AdapterState.UNSURE
    except AttemptFailed as failed:
        if isinstance(failed.error, ModelRequestRefused):
            return AdapterState.MISSING
        raise


def shown(model: str) -> str:
    """Return a model's name; llama.cpp reports the file's path, of which the folder is not shown."""
    return PurePath(model).name if model.startswith("/") else model
