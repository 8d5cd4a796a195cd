"""The short path of SPARQL requests to the endpoint, past the framework's router and the layers around it.

A query that takes half a millisecond should not wait two for the layers in front of it, and batches of
candidates, which come by the thousand, neither. The same `Endpoint` (or `Candidates`) answers, with the same
admission, errors and headers; requests for which the other layers have work to do (those from web pages,
other methods than GET and POST, a limit on the rate) go through them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.bodies.compression import Compression
from server.http.reporting.problems import ProblemMap
from server.http.routes.graph.sparql import Endpoint
from server.reader_language import reading
from server.runtime.telemetry.request_logging import Draining


class Direct:
    """ASGI middleware: answers what `endpoint` can answer alone, and passes on everything else."""

    def __init__(
        self,
        app: ASGIApp,
        endpoint: Endpoint,
        problems: ProblemMap,
        draining: Draining,
        *,
        readiness: Callable[[Request], Awaitable[Response]],
        candidates: Callable[[Request], Awaitable[Response]],
    ) -> None:
        self._app = app
        self._draining = draining
        self._problems = problems
        self._answers: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/sparql": endpoint.answer,
            "/query": endpoint.answer,
            "/update": endpoint.take_update,
            "/readyz": readiness,
            "/candidates": candidates,
        }
        self._routes = {path: DirectRoute(path) for path in self._answers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        answer = self._answers.get(scope["path"]) if scope["type"] == "http" else None
        names = {name for name, _ in scope["headers"]} if answer is not None else frozenset()
        if answer is None or b"origin" in names or self._draining.begun or not _is_taken(scope):
            await self._app(scope, receive, send)
            return
        scope["route"] = self._routes[scope["path"]]
        request = Request(scope, receive)
        with reading(scope) as reader:
            response, unexpected = await self._problems.settle(answer(request), scope["path"])
        response.headers["vary"] = _vary(response.headers.get("vary"))
        reader.mark(response.headers)
        served: ASGIApp = Compression(response) if b"accept-encoding" in names else response
        await served(scope, receive, send)
        if unexpected is not None:
            # The server logs where it happened, as for every other route.
            raise unexpected


class DirectRoute:
    """What logs and metrics call the route of a request."""

    def __init__(self, path: str) -> None:
        self.path = path


_METHODS = {
    "/sparql": ("GET", "POST"),
    "/query": ("GET", "POST"),
    "/update": ("POST",),
    "/readyz": ("GET",),
    "/candidates": ("POST",),
}


def _is_taken(scope: Scope) -> bool:
    return scope["method"] in _METHODS[scope["path"]]


def _vary(vary: str | None) -> str:
    return "Accept-Encoding, Origin" if vary is None else f"{vary}, Accept-Encoding, Origin"
