"""When a request is sent again: without any input or output."""

from __future__ import annotations

import uuid
from typing import Any, Final, Generic, TypeVar

import httpx

from urbankg_client.calls import Call
from urbankg_client.errors import Unreachable, error_of, retry_after

T = TypeVar("T")
_AGAIN: Final = frozenset((409, 429, 503))
"""Answers after which the request is sent again if they have `Retry-After`: nothing was done."""
_LONGEST_WAIT: Final = 30.0


class Attempts(Generic[T]):
    """The attempts at one call. Each returns the seconds to wait before the next, or raises."""

    def __init__(self, call: Call[T], left: int) -> None:
        self._call = call
        self._left = left
        self._wait = 0.25
        self._headers = dict(call.headers)
        if call.writes and call.method == "POST":
            self._headers["idempotency-key"] = str(uuid.uuid4())

    def request(self, http: httpx.Client | httpx.AsyncClient, **headers: str) -> httpx.Request:
        """The next attempt, with further headers."""
        call = self._call
        return http.build_request(
            call.method,
            call.path,
            params=call.params or None,
            json=call.body,
            content=call.content,
            headers={**self._headers, **headers},
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


def next_page(response: httpx.Response, call: Call[Any]) -> Call[Any] | None:
    """The call for the page after this one."""
    link = response.links.get("next", {}).get("url")
    return None if link is None else Call("GET", str(response.url.join(link)), call.read)
