"""When a request is sent again, and how a stream of events goes on: without any input or output."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar

import httpx

from urbankg_client.calls import Call
from urbankg_client.errors import Unreachable, error_of, retry_after
from urbankg_client.models import Job, JobDocument

T = TypeVar("T")
_AGAIN: Final = frozenset((409, 429, 503))
"""Answers after which the request is sent again if they have `Retry-After`: nothing was done."""
_LONGEST_WAIT: Final = 30.0
_FINISHED: Final = frozenset(("done", "cancelled"))


class Attempts(Generic[T]):
    """The attempts at one call. Each returns the seconds to wait before the next, or raises."""

    def __init__(self, call: Call[T], left: int) -> None:
        self._call = call
        self._left = left
        self._wait = 0.25
        self._headers = dict(call.headers)
        if call.writes and call.method == "POST":
            self._headers["idempotency-key"] = str(uuid.uuid4())

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The next attempt."""
        call = self._call
        return http.build_request(
            call.method,
            call.path,
            params=call.params or None,
            json=call.body,
            content=call.content,
            headers=self._headers,
        )

    def lost(self, error: httpx.TransportError) -> float:
        """No answer came. Raises `Unreachable` after the last attempt."""
        if self._left <= 0:
            raise Unreachable(
                f"{self._call.method} {self._call.path}: {error or type(error).__name__}"
            ) from error
        return self._next(None)

    def answered(self, response: httpx.Response) -> float | None:
        """An answer came: None if it is good. Raises `ApiError`."""
        if not response.is_error:
            return None
        wait = retry_after(response)
        if self._left <= 0 or wait is None or wait > _LONGEST_WAIT or response.status_code not in _AGAIN:
            raise error_of(response)
        return self._next(wait)

    def _next(self, wait: float | None) -> float:
        self._left -= 1
        self._wait = min(self._wait * 2, _LONGEST_WAIT)
        return self._wait if wait is None else wait


class Following:
    """The events of one job (server-sent events; HTML, 9.2), over as many connections as it takes."""

    def __init__(self, identifier: str, attempts: int) -> None:
        self._call = Call("GET", f"/jobs/{identifier}/events", lambda response: None, {"since": 0})
        self._most = attempts
        self._attempts = Attempts(self._call, attempts)
        self._last = "0"
        self._name = self._data = ""
        self.over = False

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The next connection, which goes on after the last event."""
        headers: Mapping[str, str] = {"accept": "text/event-stream", "last-event-id": self._last}
        self._name = self._data = ""
        return http.build_request("GET", self._call.path, headers=headers)

    def opened(self, response: httpx.Response) -> float | None:
        """As `Attempts.answered`; 204 says that nothing will come any more."""
        self.over = response.status_code == httpx.codes.NO_CONTENT
        return self._attempts.answered(response)

    def lost(self, error: httpx.TransportError | None) -> float:
        """The stream ended before the job: as `Attempts.lost`."""
        return self._attempts.lost(error or httpx.RemoteProtocolError("the stream ended before the job"))

    def read(self, line: str) -> Job | JobDocument | None:
        """The event that a line ends."""
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data += value
        elif field == "id":
            self._last = value
        elif not line and self._data:
            return self._event()
        return None

    def _event(self) -> Job | JobDocument | None:
        name, data, self._name, self._data = self._name, self._data, "", ""
        # Something came: the attempts count anew.
        self._attempts = Attempts(self._call, self._most)
        if name == "document":
            return JobDocument.model_validate_json(data)
        if name != "job":
            return None
        job = Job.model_validate_json(data)
        self.over = job.state in _FINISHED
        return job


def next_page(response: httpx.Response, call: Call[Any]) -> Call[Any] | None:
    """The call for the page after this one."""
    link = response.links.get("next", {}).get("url")
    return None if link is None else Call("GET", str(response.url.join(link)), call.read)
