"""How a stream of server-sent events (HTML, 9.2) is read: without any input or output."""

from __future__ import annotations

import json
from typing import Final, Generic, TypeVar

import httpx
from pydantic import BaseModel

from urbankg_client.attempts import Attempts
from urbankg_client.calls import Call, StepByStep
from urbankg_client.errors import problem_error
from urbankg_client.models import Job, JobDocument

E = TypeVar("E")
M = TypeVar("M", bound=BaseModel)
_FINISHED: Final = frozenset(("done", "cancelled"))


class Stream(Generic[E]):
    """The events of one request, over as many connections as it takes. A subclass reads an event."""

    def __init__(self, call: Call[None], attempts: int) -> None:
        self._call = call
        self._most = attempts
        self._attempts = Attempts(call, attempts)
        self._last = "0"
        self._name = self._data = ""
        self.over = False

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The next connection, which goes on after the last event."""
        self._name = self._data = ""
        return self._attempts.request(http, accept="text/event-stream", **{"last-event-id": self._last})

    def opened(self, response: httpx.Response) -> float | None:
        """As `Attempts.answered`; 204 says that nothing will come any more."""
        self.over = response.status_code == httpx.codes.NO_CONTENT
        return self._attempts.answered(response)

    def lost(self, error: httpx.TransportError | None) -> float:
        """The stream ended before its last event: as `Attempts.lost`."""
        return self._attempts.lost(
            error or httpx.RemoteProtocolError("the stream ended before its last event")
        )

    def read(self, line: str) -> E | None:
        """The event that a line ends. Raises `ApiError` for a problem."""
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data += value
        elif field == "id":
            self._last = value
        elif not line and self._data:
            name, data, self._name, self._data = self._name, self._data, "", ""
            return self._event(name, data)
        return None

    def _event(self, name: str, data: str) -> E | None:
        raise NotImplementedError


class JobEvents(Stream[Job | JobDocument]):
    """The events of a job, until it is finished."""

    def __init__(self, identifier: str, attempts: int) -> None:
        super().__init__(Call("GET", f"/jobs/{identifier}/events", lambda response: None), attempts)

    def _event(self, name: str, data: str) -> Job | JobDocument | None:
        # Something came: the attempts count anew.
        self._attempts = Attempts(self._call, self._most)
        if name == "document":
            return JobDocument.model_validate_json(data)
        if name != "job":
            return None
        job = Job.model_validate_json(data)
        self.over = job.state in _FINISHED
        return job


class StepEvents(Stream[M]):
    """The steps of a request and its answer; a repeat does not give again the steps that were read."""

    def __init__(self, work: StepByStep[M], attempts: int) -> None:
        super().__init__(work.call, attempts)
        self._work = work
        self._read = self._on_connection = 0

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The next connection: the same request again."""
        self._on_connection = 0
        return super().request(http)

    def _event(self, name: str, data: str) -> M | None:
        if name == "step":
            self._on_connection += 1
            if self._on_connection <= self._read:
                return None
            self._read += 1
            return self._work.step.model_validate_json(data)
        if name == "problem":
            problem = json.loads(data)
            raise problem_error(int(problem["status"]), problem)
        if name != "answer":
            return None
        self.over = True
        return self._work.answer.model_validate_json(data)
