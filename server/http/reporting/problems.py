"""Errors as HTTP answers: the one place that maps the error tree of every package to a status (RFC 9457).

The errors of a package are added to a ProblemMap by their classes; a subclass without an entry takes that
of its nearest ancestor. ``install`` hands the map to the application.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from server.message import ended
from sparql.model import errors as sparql
from sparql.storage.database import is_full

if TYPE_CHECKING:
    from fastapi import FastAPI


MEDIA_TYPE = "application/problem+json"
TYPE_BASE = "https://w3id.org/urbankg/problem/"

E = TypeVar("E", bound=Exception)
Extras = Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Problem:
    """How one class of errors is reported: status and title, members beside the standard ones, headers."""

    status: int
    title: str
    type: str
    members: Extras
    headers: Extras


def _nothing(error: Exception) -> Mapping[str, Any]:
    return {}


class ProblemMap:
    """Error classes and how each is reported."""

    def __init__(self) -> None:
        self._problems: dict[type[Exception], Problem] = {}

    def add(
        self,
        error: type[E],
        status: int,
        title: str,
        *,
        members: Callable[[E], Mapping[str, Any]] = _nothing,
        headers: Callable[[E], Mapping[str, str]] = _nothing,
    ) -> None:
        """Report ``error`` and its subclasses as ``status``; ``title`` is the same for every occurrence."""
        self._problems[error] = Problem(status, title, TYPE_BASE + _slug(error.__name__), members, headers)

    def types(self) -> list[dict[str, Any]]:
        """All kinds of problems, by their types."""
        found = {
            one.type: {"type": one.type, "title": one.title, "status": one.status}
            for one in self._problems.values()
        }
        return [found[name] for name in sorted(found)]

    def response(self, error: Exception, instance: str | None = None) -> Response:
        """The answer for an error; 500 without details for one that nobody added."""
        error = sparql.damage_in(error) or error
        if is_full(error) and not isinstance(error, sparql.SparqlError):
            # Wherever a file was written, be it an edit, an upload or a record.
            error = sparql.DiskFull(*_where(error))
        problem = next((self._problems[one] for one in type(error).__mro__ if one in self._problems), None)
        if problem is None:
            return problem_response(
                500,
                "Internal error",
                "The server failed at this request; its log says where. Sending it again may fail again.",
                instance=instance,
            )
        return problem_response(
            problem.status,
            problem.title,
            str(error),
            type_=problem.type,
            instance=instance,
            members=problem.members(error),
            headers=problem.headers(error),
        )

    async def settle(self, work: Awaitable[Response], instance: str) -> tuple[Response, Exception | None]:
        """The response of `work` or of its error; beside it the error, if nobody expected it."""
        try:
            return await work, None
        except Exception as error:  # noqa: BLE001 - the one place
            expected = is_full(error) or any(one in self._problems for one in type(error).__mro__)
            return self.response(error, instance), None if expected else error

    def install(self, app: FastAPI) -> None:
        """Answer errors that leave a route, also the framework's own, as problems."""
        from fastapi.exceptions import RequestValidationError

        async def answer(request: Request, error: Exception) -> Response:
            return self.response(error, request.url.path)

        app.state.problems = self
        for error in self._problems:
            app.add_exception_handler(error, answer)
        app.add_exception_handler(HTTPException, _http_problem)
        app.add_exception_handler(RequestValidationError, _validation_problem)
        app.add_exception_handler(Exception, answer)


def problem_response(
    status: int,
    title: str,
    detail: str,
    *,
    type_: str = "about:blank",
    instance: str | None = None,
    members: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem document as a response."""
    body = {"type": type_, "title": title, "status": status, "detail": detail}
    if instance is not None:
        body["instance"] = instance
    return Response(
        json.dumps({**(members or {}), **body}, ensure_ascii=False),
        status,
        media_type=MEDIA_TYPE,
        headers=dict(headers or {}),
    )


def add_sparql(problems: ProblemMap) -> None:
    """The error tree of ``sparql.model.errors``."""
    add = problems.add
    add(sparql.SparqlError, 500, "The store failed")
    add(sparql.RequestError, 400, "Bad request")
    add(sparql.MalformedRequest, 400, "Malformed SPARQL protocol request")
    add(sparql.SyntaxProblem, 400, "SPARQL syntax error", members=_place)
    add(sparql.UnknownFunction, 400, "No such function")
    add(sparql.NotAcceptable, 406, "Not acceptable", members=lambda error: {"offered": error.offered})
    add(
        sparql.UnsupportedMediaType,
        415,
        "Unsupported media type",
        members=lambda error: {"supported": error.supported},
    )
    add(sparql.RemoteAccessRefused, 403, "Access to other hosts refused")
    add(sparql.FetchRefused, 403, "Access to this address refused")
    add(sparql.FetchFailed, 502, "Another host failed")
    add(sparql.PayloadProblem, 400, "RDF syntax error", members=_place)
    add(sparql.GraphUnknown, 404, "No such graph")
    add(sparql.PreconditionFailed, 412, "Precondition failed")
    add(
        sparql.ChangesForgotten, 410, "Changes no longer kept", members=lambda error: {"oldest": error.oldest}
    )
    add(sparql.ProtectedGraph, 403, "System graph")
    add(sparql.ProtectedTriple, 403, "Triple kept by the system")
    add(
        sparql.InferenceTooLarge,
        422,
        "Too much follows from it",
        members=lambda error: {"limit": error.limit},
    )
    add(sparql.UnusableRule, 422, "A rule cannot be followed", members=lambda error: {"rule": error.rule})
    add(sparql.RelationTooInvolved, 422, "Geometries too involved")
    add(sparql.RelatingTooInvolved, 422, "Geometries too involved")
    add(sparql.ReadError, 500, "Query failed")
    add(
        sparql.QueryTimeout,
        504,
        "Query timeout",
        members=lambda error: {"timeout": error.timeout_s},
    )
    add(
        sparql.QueryMemoryExceeded,
        503,
        "Query memory exceeded",
        members=lambda error: {"limit_bytes": error.limit_bytes},
    )
    add(
        sparql.TooManyQueries,
        503,
        "Too many queries",
        headers=lambda error: {"Retry-After": str(max(1, round(error.retry_after_s)))},
    )
    add(sparql.ReaderLost, 503, "Reader lost", headers=lambda error: {"Retry-After": "1"})
    add(sparql.WriteError, 409, "Update failed")
    add(
        sparql.JudgingTimeout,
        503,
        "The shapes take too long",
        members=lambda error: {
            "timeout": error.timeout_s,
            "shape": error.shape,
            **({} if error.kept is None else {"dry_run": error.kept}),
        },
        headers=lambda error: {"Retry-After": str(max(1, round(error.timeout_s)))},
    )
    add(sparql.GraphMissing, 404, "No such graph")
    add(sparql.GraphExists, 409, "Graph exists")
    add(sparql.StoreError, 503, "Store unavailable")
    add(sparql.StoreDamaged, 500, "Store damaged")
    add(sparql.DiskFull, 507, "Disk full")
    add_remote(problems)


def add_remote(problems: ProblemMap) -> None:
    """The errors of a store at another host."""
    add = problems.add
    add(sparql.RemoteError, 502, "The remote store failed")
    add(
        sparql.RemoteUnreachable,
        503,
        "Remote store unreachable",
        headers=lambda error: {"Retry-After": "5"},
    )
    add(
        sparql.RemoteRefused,
        502,
        "The remote store refused this",
        members=lambda error: {"remote_status": error.status, "remote_message": error.reply},
    )
    add(sparql.RemoteUndecided, 504, "Update may or may not have been applied")
    add(sparql.RemoteConflict, 503, "Another server writes to the remote store")
    add(sparql.RemoteUnsupported, 501, "Not possible on a remote store")


def _where(error: Exception) -> tuple[Path, str]:
    """The folder that took no more, as far as the error names it, and the reason."""
    name = getattr(error, "filename", None)
    reason = getattr(error, "strerror", None) or str(error)
    return Path(name).parent if isinstance(name, str) else Path("the data folder"), reason


def _place(error: sparql.SyntaxProblem) -> Mapping[str, Any]:
    return {} if error.line is None else {"line": error.line, "column": error.column}


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    detail = (
        error.detail if error.detail and error.detail != phrase else _ADVICE.get(error.status_code, phrase)
    )
    return problem_response(
        error.status_code, phrase, detail, instance=request.url.path, headers=error.headers
    )


async def _validation_problem(request: Request, error: Exception) -> Response:
    from fastapi.exceptions import RequestValidationError

    assert isinstance(error, RequestValidationError)
    found = [
        {"place": ".".join(str(part) for part in one["loc"]), "message": one["msg"]} for one in error.errors()
    ]
    detail = "; ".join(f"{one['place']}: {one['message']}" for one in found)
    return problem_response(
        422,
        "Request not valid",
        ended(f"The request does not have the form this route takes: {detail}"),
        instance=request.url.path,
        members={"errors": found},
    )


_ADVICE = {
    404: "There is nothing at this address; /docs lists what there is.",
    405: "This address does not take that method; the Allow header lists those it takes.",
}


def _slug(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


_MOST_CHARACTERS = 1000


def warning_of(texts: Iterable[str]) -> str | None:
    """The header's value for these sentences, cut where it is too long; None when there are none."""
    text = " ".join(" ".join(texts).split())
    if not text:
        return None
    written: list[str] = []
    left = _MOST_CHARACTERS
    for character in text:
        shown = _shown(character)
        left -= len(shown)
        if left < 0:
            break
        written.append(shown)
    return f'199 urbankg "{"".join(written)}"'


def _shown(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if " " <= character <= "~":
        return character
    code = ord(character)
    return f"\\\\u{code:04X}" if code < 0x10000 else f"\\\\U{code:08X}"
