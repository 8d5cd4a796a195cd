"""Reads the body of an OpenAI-style chat completion into a Reply, and refuses what cannot be used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply, Token
from extractors.models.http.reply_watch import conforms

__all__ = ["find_document", "read_reply", "read_tokens", "writable"]

_DECODER: Final = json.JSONDecoder()
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def read_reply(
    body: Mapping[str, Any], *, structured: bool, seconds: float, model: str, adapter: str | None
) -> Reply:
    """Build the `Reply`; `structured` says that its text must be JSON.

    finish_reason is looked at before the text is parsed: "length" means that the JSON is cut off.
    Raises `ModelReplyError` with the model's words.
    """
    usage = body.get("usage") or {}
    spent = {
        "prompt_tokens": int(usage.get("prompt_tokens") or 0),
        "completion_tokens": int(usage.get("completion_tokens") or 0),
    }
    choices = body.get("choices") or ()
    if not choices or not isinstance(choices[0], Mapping):
        raise ModelReplyError(
            "the model's reply holds no choices: is this a chat-completion server?", str(body), **spent
        )
    choice = choices[0]
    text = writable((choice.get("message") or {}).get("content") or "")
    reason = choice.get("finish_reason")
    if not reason:
        raise ModelReplyError("the model's reply broke off without a finish_reason: ask again", text, **spent)
    if reason == "length":
        raise ModelReplyError(
            "the model's reply was cut off at max_tokens: allow more tokens or send shorter text",
            text,
            **spent,
        )
    if not text.strip():
        raise ModelReplyError(
            f"the model's reply is empty (finish_reason {reason}): ask again", text, **spent
        )
    if structured:
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ModelReplyError(
                f"the model's reply is not JSON ({error}): the server seems to ignore the schema",
                text,
                **spent,
            ) from None
    tokens = read_tokens(((choice.get("logprobs") or {}).get("content")) or ())
    if "".join(token.text for token in tokens) != text:
        tokens = ()
    return Reply(
        text=text,
        finish_reason=str(reason),
        prompt_tokens=spent["prompt_tokens"],
        completion_tokens=spent["completion_tokens"],
        seconds=seconds,
        model=model,
        adapter=adapter,
        tokens=tokens,
    )


def writable(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which some models say and nothing can keep."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def find_document(reply: Reply, schema: Mapping[str, Any]) -> Reply:
    """Cut a reply of a server that ignores schemas down to the JSON that follows the schema.

    Such replies come in code fences and with explanations. Raises `ModelReplyError` when none follows it.
    """
    text, position, trouble = reply.text, 0, "it holds no JSON object"
    while (start := text.find("{", position)) >= 0:
        try:
            end = _DECODER.raw_decode(text, start)[1]
        except (ValueError, RecursionError):
            position = start + 1
            continue
        wrong = conforms(text[start:end], schema)
        if wrong is None:
            return replace(reply, text=text[start:end], tokens=_between(reply.tokens, start, end))
        position, trouble = end, wrong
    raise ModelReplyError(
        f"the model's reply is not what the prompt asks for, because {trouble}: use a server that follows "
        "JSON schemas, or a larger model",
        text,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )


def _between(tokens: tuple[Token, ...], start: int, end: int) -> tuple[Token, ...]:
    """The tokens of a part of the text; none when its borders fall within tokens."""
    found: list[Token] = []
    position = 0
    for token in tokens:
        if start <= position and position + len(token.text) <= end:
            found.append(token)
        position += len(token.text)
    return tuple(found) if sum(len(token.text) for token in found) == end - start else ()


def read_tokens(entries: Iterable[Mapping[str, Any]]) -> tuple[Token, ...]:
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
