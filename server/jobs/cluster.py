"""The model's answers to documents, from here or from the workers of a Dask cluster, stored as they arrive.

No answer is ever paid for twice. A document goes through the pipeline twice: once to ask the model, in
parallel with others, and once for its commit, in order, with the names that the graph has by then. The second
time, and after a crash, the pipeline finds the answers here. So the graph depends on the order of the
documents, never on the speed of the model, and texts take the same path as those of `POST /extractions`.

A worker of a cluster needs this program, and the embedded model or access to the model's server. It gets the
ontology with its tasks and returns the answers in the form in which they are stored. Nothing else leaves it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import zlib
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from extractors import errors
from extractors.errors import ExtractionError, ModelReplyError, ModelRequestRefused, ModelUnavailable
from extractors.models.accounting import Call, Outcome, accounts_open
from extractors.models.chat import BlankForm, ChatModel, FilledForm, Message, PromptProfile, Reply, fill_with
from extractors.pipeline import Pipeline
from extractors.prompting.methods import requested_method
from extractors.settings import ExtractionSettings
from extractors.text import cleaning
from extractors.text.cleaning import TextError
from ontology import Schema
from ontology.loading import read_file
from server.intake.language_model import deferred_model
from server.jobs.job import ClusterUnavailable
from server.settings import Settings
from sparql.names.labels import LabelIndex, alias_properties

_SETTINGS_AT_FAULT = frozenset({401, 403, 404})
"""Statuses by which a server refuses all requests: the operator has to fix that."""

Exchange = tuple[bytes, bytes]
"""The digest of a question, and the packed answer to it."""


@dataclass(frozen=True)
class _Answer:
    """A reply, a filled form, or an error that the same question always causes."""

    reply: Reply | None = None
    form: FilledForm | None = None
    broken: tuple[str, str, int, int] | None = None
    refused: tuple[str, int | None] | None = None


_ANSWERS = TypeAdapter(_Answer)


class KeptModel:
    """A model that answers from stored answers, and stores those that it has to ask ``model`` for.

    ``slots`` limit how many questions of all documents the model has at a time; ``keep`` is awaited with each
    new exchange before its answer is used.
    """

    def __init__(
        self,
        model: ChatModel,
        kept: Iterable[Exchange],
        *,
        keep: Callable[[Exchange], Awaitable[None]],
        slots: asyncio.Semaphore,
    ) -> None:
        self.name = model.name
        self.prompt_profile: PromptProfile = model.prompt_profile
        self._model = model
        self._keep = keep
        self._slots = slots
        self._kept: dict[bytes, deque[bytes]] = defaultdict(deque)
        for question, answer in kept:
            self._kept[question].append(answer)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog; see `ChatModel.complete`."""

        async def ask() -> _Answer:
            return _Answer(
                await self._model.complete(
                    messages, schema=schema, max_tokens=max_tokens, temperature=temperature
                )
            )

        answer = await self._answer(_digest(messages, schema, max_tokens, temperature), ask)
        assert answer.reply is not None
        return answer.reply

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form; see `FormModel.fill`."""

        async def ask() -> _Answer:
            return _Answer(form=await fill_with(self._model, form))

        question = hashlib.sha256(json.dumps(asdict(form), sort_keys=True).encode()).digest()
        answer = await self._answer(question, ask)
        assert answer.form is not None
        return answer.form

    async def _answer(self, question: bytes, ask: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The stored answer, or a new one. Raises the error that was stored instead."""
        known = self._kept[question]
        if known:
            # The same question may be asked several times, for several samples: each has its own answer.
            answer = _unpack(known.popleft())
            _note(answer)
            return _given(answer)
        async with self._slots:
            try:
                answer = await ask()
            except ModelReplyError as error:
                spent = error.prompt_tokens, error.completion_tokens
                answer = _Answer(broken=(str(error), error.reply, *spent))
            except ModelRequestRefused as error:
                if error.status in _SETTINGS_AT_FAULT:
                    raise ModelUnavailable(str(error)) from error
                answer = _Answer(refused=(str(error), error.status))
        self.name = self._model.name
        await self._keep((question, _pack(answer)))
        return _given(answer)

    async def close(self) -> None:
        """Does nothing: this does not own the model."""


def _digest(
    messages: Sequence[Message], schema: Mapping[str, Any] | None, max_tokens: int, temperature: float
) -> bytes:
    dialog = [asdict(message) for message in messages]
    question = json.dumps([dialog, schema, max_tokens, temperature], sort_keys=True)
    return hashlib.sha256(question.encode()).digest()


def _given(answer: _Answer) -> _Answer:
    if answer.broken is not None:
        message, reply, prompt_tokens, completion_tokens = answer.broken
        raise ModelReplyError(
            message, reply, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens
        )
    if answer.refused is not None:
        raise ModelRequestRefused(*answer.refused)
    return answer


def _note(answer: _Answer) -> None:
    """Count a stored answer in the account of the run that uses it."""
    spent, reply, form = accounts_open(), answer.reply, answer.form
    if spent is None:
        return
    if form is not None:
        spent.note(Call(Outcome.ANSWERED, form.seconds, form.prompt_tokens, form.completion_tokens))
        return
    if reply is not None:
        tokens = reply.prompt_tokens, reply.completion_tokens
        spent.note(Call(Outcome.ANSWERED, reply.seconds, *tokens, attempts=reply.attempts))
    elif answer.broken is not None:
        spent.note(Call(Outcome.UNUSABLE, 0.0, *answer.broken[2:]))
    else:
        spent.note(Call(Outcome.REFUSED, 0.0))


def _pack(answer: _Answer) -> bytes:
    return zlib.compress(_ANSWERS.dump_json(answer))


def _unpack(packed: bytes) -> _Answer:
    return _ANSWERS.validate_json(zlib.decompress(packed))


_CONNECT_S = 10


@contextmanager
def dask_client(address: str) -> Iterator[tuple[Any, int]]:
    """A client of a cluster, and how many threads its workers have. Raises ClusterUnavailable.

    Call it on a thread without an event loop.
    """
    try:
        import distributed
    except ImportError as error:
        raise ClusterUnavailable(
            "This needs the package distributed. Install this program with its extra cluster: "
            "`pip install 'WHEEL[cluster]'`, in a clone `pip install '.[cluster]'`."
        ) from error
    try:
        # The client waits forever for a server that answers but is no scheduler, such as a web server.
        asyncio.run(_shake_hands(address))
        client: Any = distributed.Client(  # type: ignore[no-untyped-call]
            address, timeout=_CONNECT_S, set_as_default=False
        )
    except (OSError, TimeoutError, ValueError, TypeError, MemoryError) as error:
        reason = str(error) or f"no answer in Dask's protocol within {_CONNECT_S} s"
        raise ClusterUnavailable(
            f"No Dask scheduler answers at {address}: {reason}. Start it, or give the address that it prints "
            "as 'Scheduler at' (its dashboard has another)."
        ) from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise ClusterUnavailable(
                f"The Dask cluster at {address} has no workers. Start some: `dask worker {address}`."
            )
        yield client, threads


async def _shake_hands(address: str) -> None:
    """Connect and disconnect. Raises what a wrong address causes: MemoryError where an answer is misread."""
    from distributed.comm.core import connect

    async with asyncio.timeout(_CONNECT_S):
        connection: Any = await connect(address, timeout=_CONNECT_S)  # type: ignore[no-untyped-call]
        await connection.close()


@dataclass(frozen=True)
class WorkerSetup:
    """The ontology as files, the model, and how to extract; `key` is the same for all that is equal."""

    key: str
    ontology: tuple[tuple[str, bytes], ...]
    extraction: ExtractionSettings
    model: Settings = field(repr=False)
    """Only the settings that open the model are set, its key included."""


@dataclass(frozen=True)
class Answered:
    """The new exchanges over a text; `failure` is the name and message of the error that ended them.

    Not every error can be pickled.
    """

    exchanges: tuple[Exchange, ...]
    failure: tuple[str, str] | None = None


def answers_for(
    setup: WorkerSetup, text: str, kept: Sequence[Exchange], method: str | None = None
) -> Answered:
    """Ask the model about a text, in a process of a cluster; ``kept`` answers are not asked for again."""
    with _opening:
        extraction = _extractions.get(setup.key)
        if extraction is None:
            # Another ontology or model: the old one finishes what it has begun.
            _extractions.clear()
            extraction = _extractions[setup.key] = _Extraction(setup)
    return extraction.answers(text, kept, method)


def raise_failure(answered: Answered) -> None:
    """Raise the error of the worker, if there was one."""
    if answered.failure is None:
        return
    name, message = answered.failure
    kind = getattr(errors, name, None) or getattr(cleaning, name, None) or ExtractionError
    raise kind(message, "") if kind is ModelReplyError else kind(message)


class _Extraction:
    """A model with its pipeline in this process, on its own event loop."""

    def __init__(self, setup: WorkerSetup) -> None:
        schema = Schema([read_file(Path(name), content) for name, content in setup.ontology])
        self._model = deferred_model(setup.model)
        # Names are not linked here.
        labels = LabelIndex(alias_properties(schema))
        self._pipeline = Pipeline(schema=schema, labels=labels, model=self._model, settings=setup.extraction)
        self._loop = asyncio.new_event_loop()
        self._slots = asyncio.Semaphore(setup.extraction.concurrency)
        threading.Thread(target=self._loop.run_forever, name="extraction", daemon=True).start()

    def answers(self, text: str, kept: Sequence[Exchange], method: str | None) -> Answered:
        """The model's answers. Blocks."""
        return asyncio.run_coroutine_threadsafe(self._ask(text, kept, method), self._loop).result()

    async def _ask(self, text: str, kept: Sequence[Exchange], method: str | None) -> Answered:
        found: list[Exchange] = []

        async def keep(exchange: Exchange) -> None:
            found.append(exchange)

        model = KeptModel(self._model, kept, keep=keep, slots=self._slots)
        try:
            await self._pipeline.over(model).ask(text, requested_method(method))
        except (ExtractionError, TextError) as error:
            return Answered(tuple(found), (type(error).__name__, str(error)))
        return Answered(tuple(found))


_opening = threading.Lock()
_extractions: dict[str, _Extraction] = {}
"""At most one, kept between the tasks of this process."""
