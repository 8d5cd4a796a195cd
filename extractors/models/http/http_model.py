"""A model behind HTTP: TGI, and vLLM, SGLang, llama.cpp or OpenAI by the same requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from extractors.errors import ModelError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.accounting import party
from extractors.models.chat import Message, PromptProfile, Reply
from extractors.models.forms import BlankForm, FilledForm
from extractors.models.http.circuit import Circuit
from extractors.models.http.completions import Completion, complete_prompt, fill_fields
from extractors.models.http.documents import check_document, find_document
from extractors.models.http.endpoint import AttemptFailed, Endpoint, Timeouts
from extractors.models.http.probe import (
    SCHEMA_MESSAGES,
    ProbedServer,
    chat_request,
    probe_server,
)
from extractors.models.http.retries import RetryPolicy
from extractors.models.http.servers import ModelServer, recognize
from extractors.models.http.slots import Slots
from extractors.models.schemas import check_schema, spelled_out

_PROBE_VALID_S: Final = 300.0
_RESTARTED: Final = (None, 404, 503)
"""After these the server may be another one when it is back."""
UNNAMED: Final = "unnamed model"
"""For a server that does not report its model; the address is not for provenance."""
Answer = TypeVar("Answer")


class HttpModel:
    """Chat completions over HTTP, with the defenses that these servers need.

    The server is recognized with the first request or by `start`, again after it could not be reached, and
    every few minutes. `model` may name a LoRA adapter: it must be listed, or answer otherwise than the base
    model does, because TGI answers for an unknown adapter with its base model and does not say so.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        timeouts: Timeouts | None = None,
        concurrency: int = 8,
        prompt_profile: PromptProfile = "full",
        retry: RetryPolicy | None = None,
        circuit: Circuit | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeouts = timeouts or Timeouts()
        self._endpoint = Endpoint(url, api_key=api_key, timeouts=self._timeouts)
        self.prompt_profile: PromptProfile = prompt_profile
        self._wanted = model
        self.name = model or UNNAMED
        self._concurrency = concurrency
        self._retry = retry or RetryPolicy()
        self._circuit = circuit or Circuit()
        self._clock = clock
        self._slots = Slots(concurrency)
        self._probing = asyncio.Lock()
        self._probed: ProbedServer | None = None
        self._stale = False
        self._problem: str | None = None

    async def start(self, schemas: Iterable[Mapping[str, Any]] = ()) -> None:
        """Probe the server and have it compile these schemas now, not with the first request.

        Raises what `complete` raises.
        """
        await self.server()
        for schema in schemas:
            check_schema(schema)

            async def compile_it(schema: Mapping[str, Any] = schema) -> None:
                probed = await self._probe()
                if probed.form is not None:
                    # The schema is compiled before the first token, in all the time of a call.
                    request = chat_request(probed.server, probed.model, SCHEMA_MESSAGES, 1, 0.0, stream=False)
                    await self._endpoint.chat({**request, "response_format": probed.form(schema)})

            await self._in_turn(compile_it)

    async def server(self) -> ModelServer:
        """Return what kind of server this is; probe it if needed.

        Raises `ModelUnavailable` when it is down or does not offer the configured model, `ModelTimeout` when
        it is silent.
        """
        with self._circuit.call():
            return (await self._retried(self._probe))[0].server

    def state(self) -> dict[str, Any]:
        """Return what is known now, without a request, as `/healthz` and `urbankg models` show it."""
        probed = self._probed
        server = probed.server if probed else None
        return {
            "url": self._endpoint.root,
            "model": self.name,
            "kind": server.kind.value if server else None,
            "version": server.version if server else None,
            "schema": probed.schema if probed else "unknown",
            "adapter": probed.adapter if probed else None,
            "adapters": list(server.adapters) if server else [],
            "max_input_tokens": server.max_input_tokens if server else None,
            "max_total_tokens": server.max_total_tokens if server else None,
            "server_concurrency": server.concurrency if server else None,
            "concurrency": self._slots.places,
            "in_flight": self._slots.taken,
            "waiting": self._slots.waiting,
            "circuit": self._circuit.state,
            "problem": self._problem,
        }

    async def at_once(self) -> int:
        """Return how many requests it takes at a time: the setting, or the server's lower limit."""
        await self.server()
        return self._slots.places

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog; see `ChatModel.complete`."""
        if schema is not None:
            check_schema(schema)
        begin = self._clock()

        async def attempt() -> Reply:
            probed = await self._probe()
            return await self._ask(probed, tuple(messages), schema, max_tokens, temperature)

        reply, attempts = await self._in_turn(attempt)
        return replace(reply, seconds=self._clock() - begin, attempts=attempts)

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form, where the server's model was trained as the embedded one; see `FormModel.fill`.

        Each prompt takes a place of its own, so that the fields are asked side by side.
        """
        begin = self._clock()

        async def complete(prompt: str, tokens: int) -> Completion:
            async def attempt() -> Completion:
                return await complete_prompt(self._endpoint, await self._probe(), prompt, tokens)

            return (await self._in_turn(attempt))[0]

        fields, prompt_tokens, completion_tokens = await fill_fields(complete, form)
        probed = self._probed
        return FilledForm(
            fields,
            prompt_tokens,
            completion_tokens,
            self._clock() - begin,
            (probed and probed.base) or self.name,
            probed.adapter_name if probed else None,
        )

    async def _in_turn(self, attempt: Callable[[], Awaitable[Answer]]) -> tuple[Answer, int]:
        """Try when a slot is free; return the number of attempts too."""
        self._circuit.check()
        if self._probed is None:
            await self.server()  # how many it takes at a time is known before the places are given
        try:
            async with asyncio.timeout(self._timeouts.queue) as deadline, self._slots.turn(party()):
                deadline.reschedule(None)
                with self._circuit.call():
                    answer = await self._retried(attempt)
        except TimeoutError:
            raise ModelUnavailable(
                f"no place at the model server came free within {self._timeouts.queue:g} s: send fewer texts "
                "at a time, or allow more (model_concurrency)",
                overloaded=True,
            ) from None
        self._problem = None
        return answer

    async def _retried(self, attempt: Callable[[], Awaitable[Answer]]) -> tuple[Answer, int]:
        """Retry passing failures within the deadline; return the number of attempts too."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeouts.whole
        number = 1
        while True:
            pause = None
            try:
                async with asyncio.timeout_at(deadline):
                    return await attempt(), number
            except TimeoutError:
                error: ModelError = ModelTimeout(
                    f"the model server at {self._endpoint.root} did not finish within "
                    f"{self._timeouts.whole:g} s: allow more time (model_timeout_s), or see whether it is "
                    "overloaded"
                )
            except AttemptFailed as failed:
                error = failed.error
                self._stale = self._stale or failed.status in _RESTARTED
                pause = self._retry.wait(failed.status, number, failed.asked_seconds)
            except ModelError as failure:
                error = failure
            if pause is None or loop.time() + pause >= deadline:
                error.attempts = number
                self._problem = str(error)
                raise error
            await asyncio.sleep(pause)
            number += 1

    async def _ask(
        self,
        probed: ProbedServer,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float,
    ) -> Reply:
        """Send one request. Raises `AttemptFailed`, and `ModelReplyError` for an unusable reply."""
        if schema is not None and probed.form is None:
            messages = spelled_out(messages, schema)
        tokens = _room(probed.server, messages, max_tokens)
        request = chat_request(probed.server, probed.model, messages, tokens, temperature)
        if schema is not None and probed.form is not None:
            request["response_format"] = probed.form(schema)
        transcript = await self._endpoint.chat(request)
        reply = transcript.reply(model=probed.base or self.name, adapter=probed.adapter_name)
        if schema is None:
            return reply
        if probed.form is None:
            return find_document(reply, schema)
        try:
            check_document(reply, schema)
        except ModelReplyError:
            self._probed, self._stale = replace(probed, schema="unknown"), True
            raise
        return reply

    async def _probe(self) -> ProbedServer:
        """Probe the server, unless that was done recently."""
        async with self._probing:
            probed = self._probed
            if probed is not None and not self._stale and self._clock() - probed.at < _PROBE_VALID_S:
                return probed
            server = await recognize(self._endpoint)
            if probed is not None and probed.server == server and probed.schema != "unknown":
                probed = replace(probed, at=self._clock())
            else:
                probed = await probe_server(self._endpoint, server, self._wanted, self._clock())
                self.name = probed.name or UNNAMED
            self._probed, self._stale = probed, False
            places = min(self._concurrency, server.concurrency or self._concurrency)
            if places != self._slots.places:
                self._slots.resize(places)
            return probed

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


_BYTES_A_TOKEN: Final = 4
"""Of English and JSON, for the tokenizers of today; other scripts have more bytes, and more tokens a byte."""
_SHORTEST_REPLY: Final = 256


def _room(server: ModelServer, messages: Sequence[Message], wanted: int) -> int:
    """The tokens of the reply, at most `wanted`, that a server's limit leaves beside the prompt.

    A server refuses a request whose prompt and longest reply together are over its limit. Where next to
    nothing is left, what is wanted is asked for: the server has the last word on how long a prompt is.
    """
    if server.max_total_tokens is None:
        return wanted
    prompt = sum(len(message.content.encode()) for message in messages) // _BYTES_A_TOKEN
    room = server.max_total_tokens - prompt
    return min(wanted, room) if room >= _SHORTEST_REPLY else wanted
