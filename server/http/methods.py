"""HEAD and OPTIONS on every address, and a 405 that lists all methods an address takes.

The framework looks at one route at a time; an address here often has a route per method.
"""

from __future__ import annotations

from collections.abc import Iterable
from re import Pattern

from starlette.datastructures import MutableHeaders
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Methods:
    """ASGI middleware over an application with these routes."""

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        self._known: dict[str, tuple[Pattern[str], set[str]]] = {}
        for route in routes:
            if isinstance(route, Route):
                entry = self._known.setdefault(route.path, (route.path_regex, set()))
                entry[1].update(route.methods or ())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope.get("method")
        if scope["type"] != "http" or method in ("GET", "POST"):
            await self._app(scope, receive, self._with_allowed(scope, send))
            return
        taken = self.taken_at(scope["path"])
        if method == "OPTIONS" and taken and "OPTIONS" not in taken:
            headers = [(b"allow", _listed(taken)), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
        elif method == "HEAD" and "GET" in taken and "HEAD" not in taken:
            as_get = {**scope, "method": "GET"}
            await self._app(as_get, receive, _without_body(send))
            scope["route"] = as_get.get("route")
        else:
            await self._app(scope, receive, self._with_allowed(scope, send))

    def taken_at(self, path: str) -> frozenset[str]:
        """The methods that the routes of an address take; empty where there is no route."""
        found = (methods for pattern, methods in self._known.values() if pattern.match(path))
        return frozenset().union(*found)

    def _with_allowed(self, scope: Scope, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 405:
                taken = self.taken_at(scope["path"])
                if taken:
                    MutableHeaders(raw=message["headers"])["allow"] = _listed(taken).decode()
            await send(message)

        return sending


def _listed(methods: frozenset[str]) -> bytes:
    every = set(methods) | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
    return ", ".join(sorted(every)).encode()


def _without_body(send: Send) -> Send:
    ended = False

    async def sending(message: Message) -> None:
        nonlocal ended
        if message["type"] == "http.response.body":
            if not ended:
                ended = True
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        await send(message)

    return sending
