"""Reads the body of an OpenAI-style chat completion into a Reply, and refuses what cannot be used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply, Token

__all__ = ["read_reply"]


def read_reply(
    body: Mapping[str, Any], *, structured: bool, seconds: float, model: str, adapter: str | None
) -> Reply:
    """Build the `Reply`; `structured` says that its text must be JSON.

    finish_reason is looked at before the text is parsed: "length" means that the JSON is cut off.
    Raises `ModelReplyError` with the model's words.
    """
    choices = body.get("choices") or ()
    if not choices or not isinstance(choices[0], Mapping):
        raise ModelReplyError(
            "the model's reply holds no choices: is this a chat-completion server?", str(body)
        )
    choice = choices[0]
    text = (choice.get("message") or {}).get("content") or ""
    reason = choice.get("finish_reason")
    if not reason:
        raise ModelReplyError("the model's reply broke off without a finish_reason: ask again", text)
    if reason == "length":
        raise ModelReplyError(
            "the model's reply was cut off at max_tokens: allow more tokens or send shorter text", text
        )
    if not text.strip():
        raise ModelReplyError(f"the model's reply is empty (finish_reason {reason}): ask again", text)
    if structured:
        try:
            json.loads(text)
        except ValueError as error:
            raise ModelReplyError(
                f"the model's reply is not JSON ({error}): the server seems to ignore the schema", text
            ) from None
    usage = body.get("usage") or {}
    tokens = _tokens(((choice.get("logprobs") or {}).get("content")) or ())
    if "".join(token.text for token in tokens) != text:
        tokens = ()
    return Reply(
        text=text,
        finish_reason=str(reason),
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        completion_tokens=int(usage.get("completion_tokens") or 0),
        seconds=seconds,
        model=model,
        adapter=adapter,
        tokens=tokens,
    )


def _tokens(entries: Iterable[Mapping[str, Any]]) -> tuple[Token, ...]:
    """Read the log-probabilities; tokens that hold parts of one character become one token."""
    tokens: list[Token] = []
    waiting, sum_of_logs = b"", 0.0
    for entry in entries:
        piece = entry.get("bytes")
        waiting += bytes(piece) if piece is not None else str(entry.get("token", "")).encode()
        sum_of_logs += float(entry.get("logprob") or 0.0)
        try:
            text = waiting.decode()
        except UnicodeDecodeError:
            continue
        if text:
            tokens.append(Token(text, sum_of_logs))
        waiting, sum_of_logs = b"", 0.0
    return tuple(tokens)
