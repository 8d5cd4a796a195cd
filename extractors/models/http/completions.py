"""Filling in a form over HTTP: plain completions of a prompt, with the probabilities of the first token.

TGI answers them at `/generate` with `top_n_tokens`, all others at `/v1/completions` with `logprobs`. None of
them takes our grammar, so what is not copied from the text is dropped from an answer afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from extractors.errors import ModelReplyError
from extractors.models.chat import Token
from extractors.models.forms import END_OF_ANSWER, NONE, BlankForm, FilledField
from extractors.models.http.endpoint import AttemptFailed, Endpoint
from extractors.models.http.server_probe import ProbedServer
from extractors.models.http.servers import ServerKind

__all__ = ["Filling", "fill_over_http"]

_ALTERNATIVES: Final = 5
"""The most that TGI gives by default (--max-top-n-tokens)."""


@dataclass
class Filling:
    """What came of a form, and how many tokens it took; servers may count the shared text every time."""

    fields: tuple[FilledField, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class _Piece:
    tokens: tuple[Token, ...]
    first: Mapping[str, float]
    whole: bool


async def fill_over_http(endpoint: Endpoint, probed: ProbedServer, form: BlankForm) -> Filling:
    """Answer every field on its own. Raises `AttemptFailed`."""
    filling = Filling()
    fields = []
    for blank in form.fields:
        prompt = form.opening + blank.heading
        start = await _complete(endpoint, probed, prompt, 1, filling)
        none = math.exp(start.first[NONE]) if NONE in start.first else 0.0
        presence = min(1.0, max(0.0, 1.0 - none))
        others = {word: log for word, log in start.first.items() if word != NONE and word.strip()}
        tokens: tuple[Token, ...] = ()
        if presence >= form.least_presence and others:
            word = max(others, key=others.__getitem__)
            rest = await _complete(endpoint, probed, prompt + word, form.maximum_tokens, filling)
            said = (Token(word, others[word]), *rest.tokens)
            tokens = _copied(said, form.opening, whole=rest.whole, free_value=blank.free_value)
        fields.append(FilledField(blank.heading, presence, tokens))
    filling.fields = tuple(fields)
    return filling


async def _complete(
    endpoint: Endpoint, probed: ProbedServer, prompt: str, tokens: int, filling: Filling
) -> _Piece:
    if probed.server.kind is ServerKind.TGI:
        parameters: dict[str, Any] = {
            "max_new_tokens": tokens,
            "do_sample": False,
            "details": True,
            "return_full_text": False,
            "top_n_tokens": _ALTERNATIVES,
        }
        if probed.model:
            parameters["adapter_id"] = probed.model
        body = await endpoint.post("/generate", {"inputs": prompt, "parameters": parameters})
        piece, spent = _of_tgi(body)
        filling.prompt_tokens += len(prompt.split())  # TGI does not say; words are the nearest there is
    else:
        request = {
            "prompt": prompt,
            "max_tokens": tokens,
            "temperature": 0,
            "logprobs": _ALTERNATIVES,
            **({"model": probed.model} if probed.model else {}),
        }
        body = await endpoint.post("/v1/completions", request)
        piece, spent = _of_openai(body)
        filling.prompt_tokens += int((body.get("usage") or {}).get("prompt_tokens") or 0)
    filling.completion_tokens += spent
    return piece


def _of_tgi(body: Mapping[str, Any]) -> tuple[_Piece, int]:
    details = body.get("details")
    if not isinstance(details, Mapping) or not details.get("tokens"):
        raise _useless(body)
    tokens = [
        Token(one["text"], float(one["logprob"])) for one in details["tokens"] if not one.get("special")
    ]
    tops = details.get("top_tokens") or [[]]
    first = {one["text"]: float(one["logprob"]) for one in [*details["tokens"][:1], *tops[0]]}
    spent = int(details.get("generated_tokens") or len(tokens))
    return _Piece(tuple(tokens), first, details.get("finish_reason") != "length"), spent


def _of_openai(body: Mapping[str, Any]) -> tuple[_Piece, int]:
    choices = body.get("choices") or [{}]
    logs = choices[0].get("logprobs") or {}
    if logs.get("content"):  # llama.cpp's server
        entries = [(one["token"], float(one["logprob"])) for one in logs["content"]]
        tops = {one["token"]: float(one["logprob"]) for one in logs["content"][0].get("top_logprobs") or ()}
    elif logs.get("tokens"):
        entries = [
            (word, float(log or 0.0))
            for word, log in zip(logs["tokens"], logs["token_logprobs"], strict=True)
        ]
        tops = {word: float(log) for word, log in ((logs.get("top_logprobs") or [{}])[0] or {}).items()}
    else:
        raise _useless(body)
    tokens = tuple(Token(word, log) for word, log in entries if word and word != END_OF_ANSWER)
    first = dict(entries[:1]) | tops
    return _Piece(tokens, first, choices[0].get("finish_reason") != "length"), len(entries)


def _useless(body: Mapping[str, Any]) -> AttemptFailed:
    return AttemptFailed(
        ModelReplyError(
            "the model server gives no probabilities of tokens, without which a form cannot be filled in: "
            "start it so that it does, or choose full prompts (model_prompts)",
            str(body)[:400],
        ),
        200,
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
