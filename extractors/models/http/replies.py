"""Reads chat completions, streamed or whole, and refuses replies that cannot be used."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply, Token

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WHITE_RUN: Final = 200
"""More white space in a row than any indentation needs."""
_STATUSES: Final = {
    "Model is overloaded": 429,
    "Request failed during generation": 424,
    "Incomplete generation": 500,
    "Input validation error": 422,
}
"""TGI's errors by their first words: inside a stream of chat it gives all of them the status 422."""


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Give the data of server-sent events (WHATWG HTML, 9.2.6), which are one line each here.

    Lines end in LF or CRLF only: text in JSON may hold other characters that Unicode calls line ends.
    """
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip().decode("utf-8", "replace")


def parsed(text: str | bytes) -> Any:
    """Read JSON. Raises `ValueError`, for what is nested too deeply as well."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def inner_error(body: Any) -> tuple[int | None, str] | None:
    """Find an error inside an answer: its status, where that can be told, and its words.

    TGI writes `{"error": words, "error_type"}`, and `{"error": {"message", "http_status_code"}}` in streams
    of chat; vLLM, SGLang and llama.cpp say `code` for the status.
    """
    error = body.get("error") if isinstance(body, Mapping) else None
    if not error:
        return None
    details = error if isinstance(error, Mapping) else {}
    words = str(details.get("message") or error)
    known = next((status for start, status in _STATUSES.items() if words.startswith(start)), None)
    status = known or details.get("http_status_code") or details.get("code")
    return status if isinstance(status, int) else None, words


class Transcript:
    """A chat completion as it comes: chunk by chunk, or whole."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.pieces = 0
        self._answers = False
        self._usage: Mapping[str, Any] = {}
        self._texts: list[str] = []
        self._entries: list[Mapping[str, Any]] = []
        self._waiting: list[Mapping[str, Any]] = []
        self._white = 0

    @property
    def text(self) -> str:
        """What has been said."""
        return "".join(self._texts)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of an answer has come."""
        return not self._answers

    @property
    def goes_on_with_white_space(self) -> bool:
        """Whether more white space came in a row than belongs in any reply."""
        return self._white > _WHITE_RUN

    def take(self, body: Mapping[str, Any]) -> None:
        """Take a chunk, or the body of an answer that was not streamed."""
        self._usage = _object(body.get("usage")) or self._usage
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return
        self._answers = True
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        self._waiting += map(_object, _object(choice.get("logprobs")).get("content") or ())
        text = str(_object(choice.get("delta") or choice.get("message")).get("content") or "")
        if text:
            self.pieces += 1
            self._texts.append(text)
            self._entries += _fitting(self._waiting, text) if "delta" in choice else self._waiting
            self._waiting = []
            body_of_text = text.rstrip()
            self._white = len(text) - len(body_of_text) + (0 if body_of_text else self._white)

    def reply(self, *, model: str, adapter: str | None, seconds: float = 0.0) -> Reply:
        """Build the `Reply`; without `usage` each piece counts as one token.

        Raises `ModelReplyError` with the model's words when it broke off, was cut off, or is empty.
        """
        text, reason = writable(self.text), self.finish_reason
        trouble = None
        if self.is_empty:
            trouble = "holds no choices: is this a chat-completion server?"
        elif self.goes_on_with_white_space:
            trouble = f"was given up after {self.pieces} tokens, because it goes on with white space"
            if _is_json(text):
                trouble, reason = None, "stop"
        elif not reason:
            trouble = "broke off without a finish_reason: ask again"
        elif reason == "length":
            trouble = "was cut off at max_tokens: allow more tokens or send shorter text"
        elif not text.strip():
            trouble = f"is empty (finish_reason {reason}): ask again"
        counted = {name: count for name, count in self._usage.items() if isinstance(count, int)}
        spent = {
            "prompt_tokens": counted.get("prompt_tokens", 0),
            "completion_tokens": counted.get("completion_tokens") or self.pieces,
        }
        if trouble is not None:
            raise ModelReplyError(f"the model's reply {trouble}", text, **spent)
        try:
            tokens = read_tokens(self._entries)
        except (TypeError, ValueError):  # no probabilities that we know
            tokens = ()
        # The end of the sequence may follow as a token.
        spelled = "".join(token.text for token in tokens).startswith(text)
        tokens = tokens_between(tokens, 0, len(text)) if spelled else ()
        return Reply(text, str(reason), seconds=seconds, model=model, adapter=adapter, tokens=tokens, **spent)


def read_reply(
    body: Mapping[str, Any], *, structured: bool, seconds: float, model: str, adapter: str | None
) -> Reply:
    """Read the body of a chat completion that was not streamed; `structured`: its text must be JSON.

    Raises `ModelReplyError`.
    """
    transcript = Transcript()
    transcript.take(body)
    reply = transcript.reply(model=model, adapter=adapter, seconds=seconds)
    if structured and not _is_json(reply.text):
        raise ModelReplyError(
            "the model's reply is not JSON: ask again",
            reply.text,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
        )
    return reply


def writable(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which some models say and nothing can keep."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def read_tokens(entries: Iterable[Mapping[str, Any]]) -> tuple[Token, ...]:
    """Read the log-probabilities; tokens that hold parts of one character become one token."""
    tokens: list[Token] = []
    waiting, sum_of_logs = b"", 0.0
    for entry in entries:
        piece = entry.get("bytes")
        waiting += bytes(piece) if piece is not None else str(entry.get("token", "")).encode()
        sum_of_logs += _log(entry)
        try:
            text = waiting.decode()
        except UnicodeDecodeError:
            continue
        if text:
            tokens.append(Token(text, sum_of_logs))
        waiting, sum_of_logs = b"", 0.0
    return tuple(tokens)


def _fitting(entries: list[Mapping[str, Any]], text: str) -> list[Mapping[str, Any]]:
    """The tokens of a chunk; one for all of them where they do not spell its text.

    A character may be made of several tokens, of which all but the last come without text.
    """
    if not entries or "".join(str(entry.get("token", "")) for entry in entries) == text:
        return entries
    return [{"token": text, "logprob": sum(_log(entry) for entry in entries)}]


def tokens_between(tokens: tuple[Token, ...], start: int, end: int) -> tuple[Token, ...]:
    """The tokens of a part of the text; none when its borders fall within tokens."""
    found: list[Token] = []
    position = 0
    for token in tokens:
        if start <= position and position + len(token.text) <= end:
            found.append(token)
        position += len(token.text)
    return tuple(found) if sum(len(token.text) for token in found) == end - start else ()


def _log(entry: Mapping[str, Any]) -> float:
    found = entry.get("logprob")
    return float(found) if isinstance(found, int | float) else 0.0


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_json(text: str) -> bool:
    try:
        parsed(text)
    except ValueError:
        return False
    return True
