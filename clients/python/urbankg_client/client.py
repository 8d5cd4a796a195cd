"""The two clients: one waits, one is awaited. What they send is in `calls`, when again in `attempts`."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypedDict, TypeVar

import httpx
from pydantic import BaseModel

from urbankg_client import calls
from urbankg_client.attempts import Attempts, next_page
from urbankg_client.calls import Call, JobRecord, Pages, StepByStep
from urbankg_client.models import Job, JobDocument
from urbankg_client.streams import JobEvents, StepEvents, Stream

P = ParamSpec("P")
E = TypeVar("E")
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class _Options(TypedDict):
    base_url: str
    headers: dict[str, str]
    timeout: httpx.Timeout


def _options(url: str, api_key: str | None, timeout: float) -> _Options:
    key = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
    return {
        "base_url": url,
        "headers": {"accept": "application/json", "user-agent": "urbankg-client/0.1", **key},
        "timeout": httpx.Timeout(timeout, connect=10),
    }


def _waits(build: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    @functools.wraps(build)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(build(*args, **kwargs))

    return method


def _each(build: Callable[P, Pages[T]]) -> Callable[Concatenate[Client, P], Iterator[T]]:
    @functools.wraps(build)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self.items(build(*args, **kwargs))

    return method


def _stepping(build: Callable[P, StepByStep[M]]) -> Callable[Concatenate[Client, P], Iterator[M]]:
    @functools.wraps(build)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[M]:
        return self.events(StepEvents(build(*args, **kwargs), self.retries))

    return method


def _awaited(build: Callable[P, Call[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @functools.wraps(build)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(build(*args, **kwargs))

    return method


def _each_awaited(build: Callable[P, Pages[T]]) -> Callable[Concatenate[AsyncClient, P], AsyncIterator[T]]:
    @functools.wraps(build)
    def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return self.items(build(*args, **kwargs))

    return method


def _stepping_awaited(
    build: Callable[P, StepByStep[M]],
) -> Callable[Concatenate[AsyncClient, P], AsyncIterator[M]]:
    @functools.wraps(build)
    def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[M]:
        return self.events(StepEvents(build(*args, **kwargs), self.retries))

    return method


class Client:
    """A client that waits. `timeout` (seconds) bounds the silence of the server, `retries` the repeats."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        timeout: float = 600,
        retries: int = 4,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(**_options(url, api_key, timeout), transport=transport)
        self.url = url
        self.retries = retries

    health = _waits(calls.health)
    extract = _waits(calls.extract)
    commit_dry_run = _waits(calls.commit_dry_run)
    extract_in_steps = _stepping(calls.extract_in_steps)
    candidates = _waits(calls.candidates)
    ask = _waits(calls.ask)
    ask_in_steps = _stepping(calls.ask_in_steps)
    suggest = _waits(calls.suggest)
    query = _waits(calls.query)
    query_boolean = _waits(calls.query_boolean)
    query_graph = _waits(calls.query_graph)
    update = _waits(calls.update)
    load = _waits(calls.load)
    start_job = _waits(calls.start_job)
    job = _waits(calls.job)
    jobs = _each(calls.jobs)
    change_job = _waits(calls.change_job)
    job_documents = _each(calls.job_documents)
    review = _each(calls.review)
    review_item = _waits(calls.review_item)
    corrections = _waits(calls.corrections)
    accept = _waits(calls.accept)
    reject = _waits(calls.reject)
    reopen = _waits(calls.reopen)
    undo = _waits(calls.undo)

    def extract_many(
        self,
        texts: Iterable[str | JobRecord],
        *,
        progress: Callable[[Job], object] = lambda job: None,
        source: str | None = None,
        method: calls.Method | None = None,
    ) -> list[JobDocument]:
        """Extract from texts as a job, call `progress` as it goes on, and return what became of each."""
        job = self.start_job(texts, source=source, method=method)
        for event in self.follow(job.id):
            if isinstance(event, Job):
                progress(event)
        return list(self.job_documents(job.id))

    def follow(self, job: str) -> Iterator[Job | JobDocument]:
        """Each text of a job as it changes, and the job's counts, until it is finished."""
        return self.events(JobEvents(job, self.retries))

    def events(self, stream: Stream[E]) -> Iterator[E]:
        """The events of a stream; a connection that breaks is opened again."""
        while not stream.over:
            wait: float | None
            try:
                response = self._http.send(stream.request(self._http), stream=True)
                try:
                    if response.is_error:
                        response.read()
                    wait = stream.opened(response)
                    for line in response.iter_lines() if wait is None else ():
                        if (event := stream.read(line)) is not None:
                            yield event
                finally:
                    response.close()
                if wait is None and not stream.over:
                    wait = stream.lost(None)
            except httpx.TransportError as error:
                wait = stream.lost(error)
            time.sleep(wait or 0)

    def items(self, pages: Pages[T]) -> Iterator[T]:
        """The items of all pages."""
        call: Call[list[T]] | None = pages.first
        while call is not None:
            response = self._answer(call)
            yield from call.read(response)
            call = next_page(response, call)

    def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and read its answer."""
        return call.read(self._answer(call))

    def _answer(self, call: Call[T]) -> httpx.Response:
        attempts = Attempts(call, self.retries)
        while True:
            try:
                response = self._http.send(attempts.request(self._http))
            except httpx.TransportError as error:
                wait: float | None = attempts.lost(error)
            else:
                wait = attempts.answered(response)
                if wait is None:
                    return response
            time.sleep(wait or 0)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient:
    """The same operations, to be awaited; lists and events with `async for`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        timeout: float = 600,
        retries: int = 4,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(**_options(url, api_key, timeout), transport=transport)
        self.url = url
        self.retries = retries

    health = _awaited(calls.health)
    extract = _awaited(calls.extract)
    commit_dry_run = _awaited(calls.commit_dry_run)
    extract_in_steps = _stepping_awaited(calls.extract_in_steps)
    candidates = _awaited(calls.candidates)
    ask = _awaited(calls.ask)
    ask_in_steps = _stepping_awaited(calls.ask_in_steps)
    suggest = _awaited(calls.suggest)
    query = _awaited(calls.query)
    query_boolean = _awaited(calls.query_boolean)
    query_graph = _awaited(calls.query_graph)
    update = _awaited(calls.update)
    load = _awaited(calls.load)
    start_job = _awaited(calls.start_job)
    job = _awaited(calls.job)
    jobs = _each_awaited(calls.jobs)
    change_job = _awaited(calls.change_job)
    job_documents = _each_awaited(calls.job_documents)
    review = _each_awaited(calls.review)
    review_item = _awaited(calls.review_item)
    corrections = _awaited(calls.corrections)
    accept = _awaited(calls.accept)
    reject = _awaited(calls.reject)
    reopen = _awaited(calls.reopen)
    undo = _awaited(calls.undo)

    async def extract_many(
        self,
        texts: Iterable[str | JobRecord],
        *,
        progress: Callable[[Job], object] = lambda job: None,
        source: str | None = None,
        method: calls.Method | None = None,
    ) -> list[JobDocument]:
        """As `Client.extract_many`."""
        job = await self.start_job(texts, source=source, method=method)
        async for event in self.follow(job.id):
            if isinstance(event, Job):
                progress(event)
        return [one async for one in self.job_documents(job.id)]

    def follow(self, job: str) -> AsyncIterator[Job | JobDocument]:
        """As `Client.follow`."""
        return self.events(JobEvents(job, self.retries))

    async def events(self, stream: Stream[E]) -> AsyncIterator[E]:
        """As `Client.events`."""
        while not stream.over:
            wait: float | None
            try:
                response = await self._http.send(stream.request(self._http), stream=True)
                try:
                    if response.is_error:
                        await response.aread()
                    wait = stream.opened(response)
                    if wait is None:
                        async for line in response.aiter_lines():
                            if (event := stream.read(line)) is not None:
                                yield event
                finally:
                    await response.aclose()
                if wait is None and not stream.over:
                    wait = stream.lost(None)
            except httpx.TransportError as error:
                wait = stream.lost(error)
            await asyncio.sleep(wait or 0)

    async def items(self, pages: Pages[T]) -> AsyncIterator[T]:
        """The items of all pages."""
        call: Call[list[T]] | None = pages.first
        while call is not None:
            response = await self._answer(call)
            for item in call.read(response):
                yield item
            call = next_page(response, call)

    async def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and read its answer."""
        return call.read(await self._answer(call))

    async def _answer(self, call: Call[T]) -> httpx.Response:
        attempts = Attempts(call, self.retries)
        while True:
            try:
                response = await self._http.send(attempts.request(self._http))
            except httpx.TransportError as error:
                wait: float | None = attempts.lost(error)
            else:
                wait = attempts.answered(response)
                if wait is None:
                    return response
            await asyncio.sleep(wait or 0)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
