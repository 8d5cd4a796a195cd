"""One model server's chat completions: sends a request, reads the stream, and maps failures to errors.

Plain HTTP and not a vendor's package: those retry on their own, take keys and addresses from the environment,
and send local servers through the environment's proxy.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from extractors.errors import ModelError, ModelReplyError, ModelRequestRefused, ModelTimeout, ModelUnavailable
from extractors.models.http.reply_watch import ReplyWatch
from extractors.models.http.retries import pause_of
from extractors.models.http.transcript import DONE, Transcript, decoded, events, inner_error

__all__ = ["AttemptFailed", "Endpoint", "Timeouts"]

_GENERATION_FAILED: Final = 424
_TOO_LARGE: Final = 413
_TOO_LONG: Final = re.compile(r"max_new_tokens|maximum context|context (?:size|length)|too many tokens", re.I)
"""How TGI, vLLM, SGLang and llama.cpp report that a prompt and its answer do not fit."""
_MOST_QUOTED: Final = 500


@dataclass(frozen=True)
class Timeouts:
    """Seconds that the parts of a call may take.

    `whole` is for a call with its retries and pauses, from when it got its place; `queue` for the wait
    before that.
    """

    whole: float = 120.0
    connect: float = 10.0
    first_token: float = 60.0
    between_tokens: float = 30.0
    queue: float = 600.0


class AttemptFailed(Exception):
    """One attempt failed; `error` is what the caller gets unless another attempt succeeds.

    `status` is the HTTP status, None for a broken connection, 0 for silence; `asked_seconds` the pause that
    the server named.
    """

    def __init__(
        self,
        error: ModelError,
        status: int | None,
        *,
        asked_seconds: float | None = None,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.status = status
        self.asked_seconds = asked_seconds


class Endpoint:
    """The connection to the server at `root`, which may hold a user name and password."""

    def __init__(self, root: str, *, api_key: str | None, timeouts: Timeouts) -> None:
        self.root = root
        self.shown = without_secrets(root)
        self.timeouts = timeouts
        self._key = api_key
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(timeouts.whole, connect=timeouts.connect, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            trust_env=not is_local(root),
        )

    async def get(self, path: str) -> Mapping[str, Any]:
        """Get a JSON object; anything else (404, a web page, a list) gives an empty one.

        Raises `AttemptFailed` when the server cannot be reached, is starting or is silent.
        """
        return decoded(await self._text(path)) or {}

    async def get_list(self, path: str) -> list[Mapping[str, Any]]:
        """Get a JSON list of objects; anything else gives an empty list."""
        try:
            found = json.loads(await self._text(path))
        except ValueError:
            return []
        return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []

    async def _text(self, path: str) -> str:
        limits = httpx.Timeout(self.timeouts.connect, read=self.timeouts.first_token)
        try:
            response = await self._http.get(self.root + path, timeout=limits)
        except httpx.ReadTimeout:
            raise self._silent(self.timeouts.first_token) from None
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise self._down(error) from error
        if response.status_code in (429, 503):
            raise self._refusal(response)
        return response.text if response.is_success else ""

    async def chat(self, request: Mapping[str, Any], watch: ReplyWatch) -> Mapping[str, Any]:
        """Post a chat completion and return the body of the answer, streamed or not.

        Raises `AttemptFailed`; its error is a `ModelReplyError` with what was said when the stream broke off,
        or as soon as the watch rejects the reply; the request is closed then.
        """
        limit = self.timeouts.first_token
        begun = False
        try:
            async with asyncio.timeout(limit) as deadline:
                async with self._http.stream(
                    "POST", f"{self.root}/v1/chat/completions", json=request
                ) as response:
                    if not response.is_success:
                        await response.aread()
                        raise self._refusal(response)
                    if not response.headers.get("content-type", "").startswith("text/event-stream"):
                        return self._body((await response.aread()).decode("utf-8", "replace"))
                    transcript = Transcript()
                    loop = asyncio.get_running_loop()
                    async for data in events(response.aiter_bytes()):
                        if data == DONE:
                            break
                        piece = transcript.take(self._chunk(data, transcript))
                        begun, limit = True, self.timeouts.between_tokens
                        deadline.reschedule(loop.time() + limit)
                        trouble = watch.feed(piece)
                        if trouble is not None:
                            raise AttemptFailed(self._hopeless(trouble, transcript), 200)
                        if watch.complete and watch.white_run and transcript.finish_reason is None:
                            # The document is whole; what follows is white space up to max_tokens.
                            transcript.finish_reason = "stop"
                            break
                    return transcript.body()
        except httpx.ConnectTimeout as error:
            raise self._down(error) from error
        except (TimeoutError, httpx.TimeoutException):
            raise self._silent(limit, begun=begun) from None
        except (httpx.TransportError, httpx.InvalidURL, httpx.StreamError) as error:
            raise self._down(error) from error

    async def post(self, path: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Post a request whose answer is not streamed. Raises `AttemptFailed`."""
        limits = httpx.Timeout(self.timeouts.connect, read=self.timeouts.first_token)
        try:
            response = await self._http.post(self.root + path, json=request, timeout=limits)
        except httpx.ReadTimeout:
            raise self._silent(self.timeouts.first_token) from None
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise self._down(error) from error
        if not response.is_success:
            raise self._refusal(response)
        return self._body(response.text)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _chunk(self, data: str, transcript: Transcript) -> Mapping[str, Any]:
        chunk = decoded(data)
        if chunk is None:
            raise AttemptFailed(
                ModelReplyError(
                    f"the model server's stream holds what is no JSON: {self.redacted(data[:200])}",
                    transcript.text,
                ),
                200,
            )
        self._check_inner(chunk, transcript.text)
        return chunk

    def _body(self, text: str) -> Mapping[str, Any]:
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise AttemptFailed(
                ModelReplyError(
                    "the model server's answer is not JSON: is this a model server?", text[:_MOST_QUOTED]
                ),
                200,
            )
        self._check_inner(body, text)
        return body

    def _check_inner(self, body: Mapping[str, Any], said: str) -> None:
        found = inner_error(body)
        if found is None:
            return
        status, words = found
        if status is None or status == 200:
            message = f"the model server reports an error inside its answer: {self.redacted(words)}"
            raise AttemptFailed(ModelReplyError(message, said), 200)
        raise AttemptFailed(self._failure(status, words), status)

    def _hopeless(self, trouble: str, transcript: Transcript) -> ModelReplyError:
        usage = transcript.usage or {}
        return ModelReplyError(
            f"the model's reply was given up after {transcript.chunks} tokens, because {trouble}",
            transcript.text,
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or transcript.chunks),
        )

    def _refusal(self, response: httpx.Response) -> AttemptFailed:
        status, words = response.status_code, response.text.strip()
        found = inner_error(decoded(words) or {})
        return AttemptFailed(
            self._failure(status, found[1] if found else words),
            status,
            asked_seconds=pause_of(response.headers.get("retry-after")),
        )

    def _failure(self, status: int, words: str) -> ModelError:
        said = self.redacted(words)[:_MOST_QUOTED]
        if status == 429:
            return ModelUnavailable(
                f"the model server at {self.shown} is overloaded (429): try later. {said}", overloaded=True
            )
        if status == _GENERATION_FAILED:
            return ModelReplyError(
                f"the model server failed while generating (424), twice: see its log. {said}", ""
            )
        if status >= 500:
            return ModelUnavailable(
                f"the model server at {self.shown} failed ({status}): see its log. {said}"
            )
        hint = {
            401: "set the API key (URBANKG_MODEL_API_KEY)",
            403: "check the API key's rights",
            404: "check that the URL is that of an OpenAI-compatible server and that the model exists",
            413: "shorten the text",
        }.get(status, "shorten the text, or check that the model fits the prompt")
        return ModelRequestRefused(
            f"the model server refused the request ({status}): {hint}. {said}",
            status,
            too_long=status == _TOO_LARGE or _TOO_LONG.search(words) is not None,
        )

    def _down(self, error: Exception) -> AttemptFailed:
        reason = self.redacted(str(error)) or type(error).__name__
        return AttemptFailed(
            ModelUnavailable(
                f"the model server at {self.shown} cannot be reached ({reason}): start it, or correct the "
                "URL, or unset URBANKG_MODEL_URL to use the embedded model"
            ),
            None,
        )

    def _silent(self, seconds: float, *, begun: bool = False) -> AttemptFailed:
        what = "stopped in the middle of its reply for" if begun else "did not answer within"
        return AttemptFailed(
            ModelTimeout(
                f"the model server at {self.shown} {what} {seconds:g} s: allow more time "
                f"({'model_token_timeout_s' if begun else 'model_first_token_timeout_s'}), or see whether it "
                "is overloaded"
            ),
            0,
        )

    def redacted(self, words: str) -> str:
        """Return the words without the key and the password, which some servers quote."""
        found = urlsplit(self.root)
        for secret in (self._key, found.password):
            if secret:
                words = words.replace(secret, "***")
        return words


def without_secrets(url: str) -> str:
    """The URL without user name, password and parameters."""
    found = urlsplit(url)
    return f"{found.scheme}://{found.netloc.rpartition('@')[2]}{found.path}"


def is_local(url: str) -> bool:
    """Whether the URL is on this machine, so that no proxy is used."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
