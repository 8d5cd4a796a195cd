"""Gives every request an identifier, a log line and a time in the metrics; refuses requests at the end."""

import asyncio
from time import perf_counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.access.clients import Clients
from server.http.reporting.problems import problem_response, warning_of
from server.http.version import API_HEADER
from server.monitoring.logs import AnswerLog, begin_request, log_answered
from server.monitoring.metrics import Metrics
from server.monitoring.slow_queries import QUERY_TEXT, SlowQueries
from sparql.model.answer_warnings import collect
from sparql.workers.fair_queue import CLIENT

REQUEST_ID = "X-Request-Id"
_REQUEST_ID = REQUEST_ID.lower().encode("ascii")
_FIRST_ERROR = 400
# Their lines are written together, a moment later: writing one takes longer than many answers.
_FREQUENT = frozenset({"/sparql", "/query", "/update", "/candidates"})


class Draining:
    """Whether the server is stopping: it finishes its requests and accepts no more."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def begun(self) -> bool:
        """Whether it has begun."""
        return self._event.is_set()

    def begin(self) -> None:
        """From now on refuse every new request with 503; call this on the event loop."""
        self._event.set()

    async def wait(self) -> None:
        """Return when it begins: for endless answers."""
        await self._event.wait()


class RequestLogging:
    """ASGI middleware, outermost, so that errors are logged as well.

    It also records the client of a request, so that clients can take turns.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        draining: Draining,
        log: AnswerLog,
        clients: Clients,
        slow_queries: SlowQueries,
    ) -> None:
        self._app = app
        self._clients = clients
        self._metrics = metrics
        self._draining = draining
        self._log = log
        self._slow_queries = slow_queries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and log it at the end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identifier = begin_request(Headers(scope=scope).get(REQUEST_ID))
        CLIENT.set(self._clients.name_of(scope))
        warnings = collect()
        started = perf_counter()
        status = 500
        finished = False

        async def observed(message: Message) -> None:
            nonlocal status, finished
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], (_REQUEST_ID, identifier.encode("ascii")), API_HEADER]
                if (warning := warning_of(warnings)) is not None:
                    headers.append((b"warning", warning.encode("ascii")))
                if self._draining.begun:
                    headers.append((b"connection", b"close"))
                message = {**message, "headers": headers}
            elif message["type"] == "http.response.body":
                finished = not message.get("more_body", False)
            await send(message)

        self._metrics.in_flight.inc()
        try:
            await self._app(scope, receive, observed)
        finally:
            self._metrics.in_flight.dec()
            self._log_end(scope, identifier, status, finished, perf_counter() - started)

    def _log_end(self, scope: Scope, identifier: str, status: int, finished: bool, seconds: float) -> None:
        route = route_of(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.requests.labels(method, route, str(status)).observe(seconds)
        if self._slow_queries.is_slow(seconds) and (query := scope.get(QUERY_TEXT)) is not None:
            self._slow_queries.note(query, self._clients.key_of(scope), seconds, status)
        if finished and status < _FIRST_ERROR and route in _FREQUENT:
            self._log.note(identifier, method, route, status, seconds)
        else:
            self._log.write()
            log_answered(method, route, status, seconds, finished=finished)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def route_of(scope: Scope) -> str:
    """The template of the route that took a request; `none` when no route did."""
    return str(getattr(scope.get("route"), "path", "none"))


class RefuseWhileDraining:
    """ASGI middleware: answers 503 as soon as the server is stopping."""

    def __init__(self, app: ASGIApp, draining: Draining) -> None:
        self._app = app
        self._draining = draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        refused = scope["type"] == "http" and self._draining.begun
        await (_refusal() if refused else self._app)(scope, receive, send)


class AnswerWhatIsCutOff:
    """ASGI middleware: answers 503 to a request that is cancelled because the server stops.

    uvicorn would answer 500 and no words.
    """

    def __init__(self, app: ASGIApp, draining: Draining) -> None:
        self._app = app
        self._draining = draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer it where it is cut off before its answer has begun."""
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError as cut_off:
            if scope["type"] != "http" or not self._draining.begun:
                raise
            try:
                await _refusal(_CUT_OFF)(scope, receive, send)
            except RuntimeError:
                # The answer had begun: the connection is broken off.
                raise cut_off from None


_REFUSED = "The server is shutting down and accepts no more requests; send this again later."
_CUT_OFF = (
    "The server was shut down before this request was finished. Send it again later; where it changes "
    "something, look first whether it did."
)


def _refusal(detail: str = _REFUSED) -> ASGIApp:
    return problem_response(503, "Shutting down", detail, headers={"Retry-After": "5"})
