"""A model behind HTTP: TGI, and vLLM, SGLang, llama.cpp or OpenAI by the same requests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import httpx
import openai

from extractors.errors import (
    ModelError,
    ModelReplyError,
    ModelRequestRefused,
    ModelTimeout,
    ModelUnavailable,
)
from extractors.models.chat import Message, PromptProfile, Reply
from extractors.models.replies import read_reply
from extractors.models.retries import RetryPolicy
from extractors.models.schemas import refuse_recursion
from extractors.models.servers import ModelServer, ServerKind, recognise, response_format, server_root

__all__ = ["HttpModel"]

_GENERATION_FAILED = 424


class HttpModel:
    """Chat completions over HTTP, with the defences that these servers need.

    The server is recognised with the first request. `model` may name a LoRA adapter; a server that lists its
    models must list it, because TGI answers for an unknown adapter with its base model and says nothing.
    """

    prompt_profile: PromptProfile = "full"

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = 60.0,
        concurrency: int = 8,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._root = server_root(url)
        self._wanted = model
        self.name = model or self._root
        self._timeout = timeout_seconds
        self._concurrency = concurrency
        self._retry = retry or RetryPolicy()
        self._server: ModelServer | None = None
        self._slots = asyncio.Semaphore(concurrency)
        self._meeting = asyncio.Lock()
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._probes = httpx.AsyncClient(headers=headers, timeout=min(timeout_seconds, 10.0))
        self._client = openai.AsyncOpenAI(
            base_url=f"{self._root}/v1",
            api_key=api_key or "none",
            timeout=timeout_seconds,
            max_retries=0,
        )

    async def server(self) -> ModelServer:
        """Tell what kind of server this is, asking it once.

        Raises `ModelUnavailable` when it is down or does not offer the configured model, `ModelTimeout` when
        it is silent.
        """
        async with self._meeting:
            if self._server is None:
                self._server = await self._meet()
            return self._server

    async def _meet(self) -> ModelServer:
        attempt = 1
        while True:
            try:
                server = await recognise(self._probes, self._root)
                break
            except httpx.TimeoutException:
                raise self._too_slow() from None
            except httpx.TransportError as error:
                pause = self._retry.wait(None, attempt)
                if pause is None:
                    raise self._down(error) from error
                await asyncio.sleep(pause)
                attempt += 1
            except httpx.InvalidURL as error:
                raise ModelUnavailable(f"{self._root} is no URL ({error}): set URBANKG_MODEL_URL") from error
        if self._wanted and server.models and self._wanted not in server.models:
            raise ModelUnavailable(
                f"the model server at {self._root} does not offer {self._wanted!r}; it offers "
                f"{', '.join(server.models)}: configure one of these"
            )
        self.name = self._wanted or (server.models[0] if server.models else self.name)
        if server.concurrency is not None and server.concurrency < self._concurrency:
            self._slots = asyncio.Semaphore(server.concurrency)
        return server

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
            refuse_recursion(schema)
        begin = time.monotonic()
        server = await self.server()
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [asdict(message) for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        if schema is not None:
            request["response_format"] = response_format(server.kind, schema)
        if server.gives_logprobs:
            request["logprobs"] = True
        async with self._slots:
            body = await self._send(request)
        return read_reply(
            body,
            structured=schema is not None,
            seconds=time.monotonic() - begin,
            model=self.name,
            adapter=self._adapter(server),
        )

    def _adapter(self, server: ModelServer) -> str | None:
        """Name the LoRA adapter in force: on TGI, a configured model that is not the base model itself."""
        if server.kind is ServerKind.TGI and self._wanted not in (None, *server.models[:1]):
            return self._wanted
        return None

    async def _send(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Post the request, again where that can help, and give the body of the answer."""
        attempt = 1
        while True:
            try:
                async with asyncio.timeout(self._timeout):
                    response = await self._client.chat.completions.with_raw_response.create(**request)
                return _body(response.http_response.text)
            except (TimeoutError, openai.APITimeoutError):
                raise self._too_slow() from None
            except openai.APIConnectionError as error:
                failure: ModelError = self._down(error)
                pause = self._retry.wait(None, attempt)
            except openai.APIStatusError as error:
                failure = self._failure(error)
                pause = self._retry.wait(
                    error.status_code, attempt, error.response.headers.get("retry-after")
                )
            if pause is None:
                raise failure
            await asyncio.sleep(pause)
            attempt += 1

    def _failure(self, error: openai.APIStatusError) -> ModelError:
        status, said = error.status_code, error.response.text.strip()[:500]
        if status == 429:
            return ModelUnavailable(
                f"the model server at {self._root} is overloaded (429): try later. {said}"
            )
        if status == _GENERATION_FAILED:
            return ModelReplyError("the model server failed while generating (424), twice: see its log", said)
        if status >= 500:
            return ModelUnavailable(
                f"the model server at {self._root} failed ({status}): see its log. {said}"
            )
        hint = {
            401: "set the API key (URBANKG_MODEL_API_KEY)",
            403: "check the API key's rights",
            404: "check that the URL is that of an OpenAI-compatible server and that the model exists",
        }.get(status, "shorten the text, or check that the model fits the prompt")
        return ModelRequestRefused(f"the model server refused the request ({status}): {hint}. {said}", status)

    def _down(self, error: Exception) -> ModelUnavailable:
        cause = error.__cause__ or error
        return ModelUnavailable(
            f"the model server at {self._root} cannot be reached ({cause}): start it, or correct the "
            "URL, or unset URBANKG_MODEL_URL to use the embedded model"
        )

    def _too_slow(self) -> ModelTimeout:
        return ModelTimeout(
            f"the model server at {self._root} did not answer within {self._timeout:g} s: allow more time, "
            "or see whether it is overloaded"
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
        await self._probes.aclose()


def _body(text: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        raise ModelReplyError(
            "the model server's answer is not JSON: is this a model server?", text
        ) from None
    if not isinstance(body, dict):
        raise ModelReplyError("the model server's answer is no JSON object: is this a model server?", text)
    error = body.get("error")
    if error:
        raise ModelReplyError(f"the model server reports an error inside its answer: {error}", text)
    return body
