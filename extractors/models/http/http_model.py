"""A model behind HTTP: TGI, and vLLM, SGLang, llama.cpp or OpenAI by the same requests.

A form is filled in by plain completions with the probabilities of the first token: TGI answers them at
`/generate` with `top_n_tokens`, all others at `/v1/completions` with `logprobs`. None of them takes our
grammar, so what is not copied from the text is dropped from an answer afterwards.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from extractors.errors import ModelError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.accounting import party
from extractors.models.chat import (
    END_OF_ANSWER,
    NONE,
    BlankField,
    BlankForm,
    FilledField,
    FilledForm,
    Message,
    PromptProfile,
    Reply,
    Token,
)
from extractors.models.http.endpoint import AttemptFailed, Circuit, Endpoint, RetryPolicy, Slots, Timeouts
from extractors.models.http.servers import (
    SCHEMA_MESSAGES,
    ModelServer,
    ProbedServer,
    ServerKind,
    chat_request,
    probe_server,
    recognize,
)
from extractors.models.schemas import check_document, find_document, spelled_out

_ALTERNATIVES: Final = 5
"""The most that TGI gives by default (--max-top-n-tokens)."""


@dataclass(frozen=True)
class Completion:
    """How a prompt goes on: `first` are the log-probabilities of its first token, by the token."""

    tokens: tuple[Token, ...]
    first: Mapping[str, float]
    is_cut_off: bool
    prompt_tokens: int
    completion_tokens: int


Complete = Callable[[str, int], Awaitable[Completion]]
"""Completes a prompt in so many tokens at most."""


async def fill_fields(complete: Complete, form: BlankForm) -> tuple[tuple[FilledField, ...], int, int]:
    """Answer every field on its own, side by side; give the tokens of prompts and answers too.

    Servers may count the text that the prompts share every time. Raises what `complete` raises.
    """
    asked: list[Completion] = []

    async def ask(prompt: str, tokens: int) -> Completion:
        asked.append(await complete(prompt, tokens))
        return asked[-1]

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_fill_field(ask, form, blank)) for blank in form.fields]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return (
        tuple(task.result() for task in tasks),
        sum(completion.prompt_tokens for completion in asked),
        sum(completion.completion_tokens for completion in asked),
    )


async def _fill_field(ask: Complete, form: BlankForm, blank: BlankField) -> FilledField:
    prompt = form.opening + blank.heading
    start = await ask(prompt, 1)
    none = math.exp(start.first[NONE]) if NONE in start.first else 0.0
    presence = min(1.0, max(0.0, 1.0 - none))
    others = {word: log for word, log in start.first.items() if word != NONE and word.strip()}
    if presence < form.least_presence or not others:
        return FilledField(blank.heading, presence, ())
    word = max(others, key=others.__getitem__)
    rest = await ask(prompt + word, form.maximum_tokens)
    said = (Token(word, others[word]), *rest.tokens)
    kept = _copied(said, form.opening, whole=not rest.is_cut_off, free_value=blank.free_value)
    return FilledField(blank.heading, presence, kept)


async def complete_prompt(endpoint: Endpoint, probed: ProbedServer, prompt: str, tokens: int) -> Completion:
    """Ask for at most so many tokens after the prompt. Raises `AttemptFailed`."""
    if probed.server.kind is ServerKind.TGI:
        parameters = {
            "max_new_tokens": tokens,
            "do_sample": False,
            "details": True,
            "return_full_text": False,
            "top_n_tokens": _ALTERNATIVES,
            "adapter_id": probed.model,
        }
        body = await endpoint.post("/generate", {"inputs": prompt, "parameters": parameters})
        return _read(body, lambda: _of_tgi(body, prompt))
    request = {
        "prompt": prompt,
        "max_tokens": tokens,
        "temperature": 0,
        "logprobs": _ALTERNATIVES,
        **({"model": probed.model} if probed.model else {}),
    }
    body = await endpoint.post("/v1/completions", request)
    return _read(body, lambda: _of_openai(body))


def _read(body: Mapping[str, Any], read: Callable[[], Completion]) -> Completion:
    """Raise `AttemptFailed` for a body without log-probabilities, whatever it holds instead."""
    try:
        return read()
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise AttemptFailed(
            ModelReplyError(
                "the model server gives no probabilities of tokens, without which a form cannot be filled "
                "in: start it so that it does, or choose full prompts (model_prompts)",
                str(body)[:400],
            ),
            200,
        ) from None


def _of_tgi(body: Mapping[str, Any], prompt: str) -> Completion:
    details = body["details"]
    entries = details["tokens"]
    tokens = tuple(
        Token(entry["text"], float(entry["logprob"])) for entry in entries if not entry.get("special")
    )
    tops = (details.get("top_tokens") or [[]])[0]
    first = {entry["text"]: float(entry["logprob"]) for entry in [entries[0], *tops]}
    spent = int(details.get("generated_tokens") or len(tokens))
    # It does not report the tokens of the prompt; words are the nearest there is.
    return Completion(tokens, first, details.get("finish_reason") == "length", len(prompt.split()), spent)


def _of_openai(body: Mapping[str, Any]) -> Completion:
    choice = body["choices"][0]
    logs = choice["logprobs"]
    if logs.get("content"):  # llama.cpp's server
        entries = [(entry["token"], float(entry["logprob"])) for entry in logs["content"]]
        tops = {
            entry["token"]: float(entry["logprob"]) for entry in logs["content"][0].get("top_logprobs") or ()
        }
    else:
        entries = [
            (word, float(log or 0.0))
            for word, log in zip(logs["tokens"], logs["token_logprobs"], strict=True)
        ]
        tops = {word: float(log) for word, log in (logs["top_logprobs"][0] or {}).items()}
    return Completion(
        tuple(Token(word, log) for word, log in entries if word and word != END_OF_ANSWER),
        dict(entries[:1]) | tops,
        choice.get("finish_reason") == "length",
        int((body.get("usage") or {}).get("prompt_tokens") or 0),
        len(entries),
    )


def _copied(tokens: Sequence[Token], opening: str, *, whole: bool, free_value: bool) -> tuple[Token, ...]:
    """Keep the lines whose words are all in the text; of a cut-off answer, the complete lines."""
    lines: list[list[Token]] = [[]]
    for token in tokens:
        lines[-1].append(token)
        if "\n" in token.text:
            lines.append([])
    kept = lines if whole else lines[:-1]
    said = " ".join(opening.partition(":")[2].split())

    def is_copied(line: Sequence[Token]) -> bool:
        subject, _, value = "".join(token.text for token in line).partition("|")
        return all(" ".join(end.split()) in said for end in ((subject,) if free_value else (subject, value)))

    return tuple(token for line in kept if is_copied(line) for token in line)


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
