"""Assembles a streamed chat completion, event by event, and finds errors inside it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

__all__ = ["Transcript", "events", "inner_error"]

DONE: Final = "[DONE]"
# What text-generation-inference names its errors, as the statuses it gives them outside streams.
_STATUSES: Final = {"generation": 424, "overloaded": 429, "validation": 422, "incomplete_generation": 500}


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Give the data of each server-sent event (WHATWG HTML, 9.2.6).

    Lines end in LF or CRLF only: text in JSON may hold other characters that Unicode calls line ends.
    llama.cpp once sent errors in a field of that name; they count as data.
    """
    rest, data = b"", list[str]()
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            words = line.removesuffix(b"\r").decode("utf-8", "replace")
            if not words:
                if data:
                    yield "\n".join(data)
                data = []
                continue
            name, _, value = words.partition(":")
            if name in ("data", "error"):
                data.append(value.removeprefix(" "))
    if data:
        yield "\n".join(data)


def inner_error(body: Mapping[str, Any]) -> tuple[int | None, str] | None:
    """Find an error inside an answer of status 200: its status, where it names one, and its words.

    Two forms: `{"error": words, "error_type": name}`, and `{"error": {"message", "http_status_code"}}`, where
    vLLM and llama.cpp say `code` for the status.
    """
    error = body.get("error")
    if not error:
        return None
    if isinstance(error, Mapping):
        status = error.get("http_status_code") or error.get("code")
        words = str(error.get("message") or error)
        kind = error.get("error_type") or error.get("type")
    else:
        status, words, kind = None, str(error), body.get("error_type")
    if not isinstance(status, int):
        status = _STATUSES.get(str(kind))
    return status, words


class Transcript:
    """The reply so far, kept as the body of an answer that was not streamed."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.usage: Mapping[str, Any] | None = None
        self.model: str | None = None
        self.chunks = 0
        self._texts: list[str] = []
        self._tokens: list[Mapping[str, Any]] = []
        self._waiting: list[Mapping[str, Any]] = []

    @property
    def text(self) -> str:
        """What has been said."""
        return "".join(self._texts)

    def take(self, chunk: Mapping[str, Any]) -> str:
        """Take an event's JSON; gives the text that it adds."""
        usage = chunk.get("usage")
        if isinstance(usage, Mapping):
            self.usage = usage
        if chunk.get("model"):
            self.model = str(chunk["model"])
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return ""
        delta = choice.get("delta")
        text = (delta.get("content") if isinstance(delta, Mapping) else None) or ""
        if choice.get("finish_reason"):
            self.finish_reason = str(choice["finish_reason"])
        logprobs = choice.get("logprobs")
        self._waiting += (logprobs.get("content") or ()) if isinstance(logprobs, Mapping) else ()
        if text:
            self.chunks += 1
            self._texts.append(text)
            self._tokens += _fitting(self._waiting, text)
            self._waiting = []
        return str(text)

    def body(self) -> dict[str, Any]:
        """The whole, in the form of a chat completion. Without usage each chunk counts as one token."""
        choice = {
            "message": {"role": "assistant", "content": self.text},
            "finish_reason": self.finish_reason,
            "logprobs": {"content": self._tokens},
        }
        return {
            "choices": [choice],
            "model": self.model,
            "usage": self.usage or {"prompt_tokens": 0, "completion_tokens": self.chunks},
        }


def _fitting(entries: list[Mapping[str, Any]], text: str) -> list[Mapping[str, Any]]:
    """The tokens of a chunk; one for all of them where they do not spell its text.

    A character may be made of several tokens, of which all but the last come without text.
    """
    if not entries or "".join(str(entry.get("token", "")) for entry in entries) == text:
        return entries
    return [{"token": text, "logprob": sum(float(entry.get("logprob") or 0.0) for entry in entries)}]


def decoded(data: str) -> Mapping[str, Any] | None:
    """Read an event's data as a JSON object, or return None."""
    try:
        found = json.loads(data)
    except ValueError:
        return None
    return found if isinstance(found, Mapping) else None
