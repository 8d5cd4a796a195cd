"""What goes wrong.

UrbanKGError
  Unreachable      no answer, after all attempts
  ApiError         the server answered with a problem (RFC 9457)
    BadRequest (400) Unauthorized (401) Forbidden (403) NotFound (404) Conflict (409) Gone (410)
    TooLarge (413) Refused (422) RateLimited (429) Unavailable (502, 503, 504)
"""

from __future__ import annotations

from typing import Any

import httpx


class UrbanKGError(Exception):
    """Any error of this client."""


class Unreachable(UrbanKGError):
    """No answer came. A write may have been carried out; the repeats had the same `Idempotency-Key`."""


class ApiError(UrbanKGError):
    """The server's problem: `detail` says what to do, `kind` is the last part of the problem's type."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.title = str(problem.get("title") or httpx.codes.get_reason_phrase(status))
        self.detail = str(problem.get("detail") or self.title)
        self.kind = str(problem.get("type", "about:blank")).rpartition("/")[2]
        self.members = problem
        self.retry_after = retry_after
        super().__init__(f"{status} {self.title}: {self.detail}")


class BadRequest(ApiError):
    """400: the body, the query or a parameter cannot be read."""


class Unauthorized(ApiError):
    """401: a key is needed."""


class Forbidden(ApiError):
    """403: the key lacks the scope, or nobody may do this."""


class NotFound(ApiError):
    """404: there is no such thing."""


class Conflict(ApiError):
    """409: the state does not allow it."""


class Gone(ApiError):
    """410: it was there and was removed."""


class TooLarge(ApiError):
    """413: the body or a text is too large."""


class Refused(ApiError):
    """422: it can be read, and cannot be used."""


class RateLimited(ApiError):
    """429: too many requests."""


class Unavailable(ApiError):
    """502, 503, 504: the model or the store does not answer now."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    413: TooLarge,
    422: Refused,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(response: httpx.Response) -> ApiError:
    """The error for an answer whose body was read."""
    try:
        problem = response.json()
    except ValueError:
        problem = {"detail": response.text[:1000]}
    if not isinstance(problem, dict):
        problem = {"detail": str(problem)[:1000]}
    return problem_error(response.status_code, problem, retry_after(response))


def problem_error(status: int, problem: dict[str, Any], after: float | None = None) -> ApiError:
    """The error for a problem document."""
    return _BY_STATUS.get(status, ApiError)(status, problem, after)


def retry_after(response: httpx.Response) -> float | None:
    """The seconds that the server asks to wait."""
    value = response.headers.get("retry-after", "")
    return float(value) if value.isdecimal() else None
