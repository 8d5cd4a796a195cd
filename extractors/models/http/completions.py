"""Filling in a form over HTTP: plain completions of a prompt, with the probabilities of the first token.

TGI answers them at `/generate` with `top_n_tokens`, all others at `/v1/completions` with `logprobs`. None of
them takes our grammar, so what is not copied from the text is dropped from an answer afterwards.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from extractors.errors import ModelReplyError
from extractors.models.chat import Token
from extractors.models.forms import END_OF_ANSWER, NONE, BlankField, BlankForm, FilledField
from extractors.models.http.endpoint import AttemptFailed, Endpoint
from extractors.models.http.probe import ProbedServer
from extractors.models.http.servers import ServerKind

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
