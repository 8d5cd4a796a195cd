"""The address of a remote store, and the credentials for it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import httpx
from pyoxigraph import NamedNode


@dataclass(frozen=True)
class RemoteAddress:
    """The addresses of a SPARQL 1.1 store (query, update, and optionally its graph store) and credentials.

    `default_graph` names the graph that serves as the default graph in stores that have none, or whose
    default graph is the union of all (Virtuoso, GraphDB). `timeout_s` is for one request of the writer.
    """

    query_url: str
    update_url: str
    graph_url: str | None = None
    user: str | None = None
    password: str | None = None
    token: str | None = None
    digest: bool = False
    default_graph: NamedNode | None = None
    timeout_s: float = 60.0

    def authentication(self) -> httpx.Auth | None:
        """Bearer with a token, else Basic or Digest with a user, else nothing."""
        if self.token is not None:
            return _Bearer(self.token)
        if self.user is None:
            return None
        password = self.password or ""
        return httpx.DigestAuth(self.user, password) if self.digest else httpx.BasicAuth(self.user, password)


class _Bearer(httpx.Auth):
    """RFC 6750, 2.1."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request
