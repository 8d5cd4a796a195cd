"""`/`: the page, and under `/ui/` its files, as `make ui` builds them from `web/`.

The page uses the public API like any other client. Its content security policy allows its own files only: no
inline script or style, no request to another host.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from server.errors import UnknownResource
from server.http.compression import accepts_gzip
from server.http.routes.graph.collections import landing_page
from server.runtime.context import Services
from sparql.protocol.conditions import Conditions
from sparql.protocol.formats import GRAPH_FORMATS
from sparql.protocol.negotiation import MediaType, choose

_DOCS: Final = "/docs"
_HTML: Final = MediaType("text/html", ("application/xhtml+xml",))
_JSON: Final = MediaType("application/json")
_GRAPHS_OR_HTML: Final = (*(MediaType(one.media_type, one.aliases) for one in GRAPH_FORMATS), _HTML)
_MEDIA_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # Asked for again each time, and answered 304: a new version of the server shows its own page.
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True)
class WebFile:
    """A file of the page, plain and compressed."""

    content_type: str
    body: bytes
    compressed: bytes
    tag: str


def router(services: Services) -> APIRouter:
    """The page and its files, which hold nothing of the graph."""
    routes = APIRouter(tags=["features"])

    @routes.get("/", responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}})
    async def get_start(request: Request) -> Response:
        """The page; a client that prefers JSON gets the addresses of everything."""
        if choose(request.headers.get("accept"), (_HTML, _JSON)) is _JSON:
            return landing_page(services, request)
        return _answer(request, web_files()["index.html"], {"Vary": "Accept"})

    @routes.get("/ui/{name}", include_in_schema=False)
    async def get_file(request: Request, name: str) -> Response:
        found = web_files().get(name)
        if found is None:
            raise UnknownResource(f"The page has no file '{name}'; open /, or {_DOCS} for the API.")
        return _answer(request, found, {})

    return routes


def page_of(request: Request, iri: str) -> Response | None:
    """Where the page shows an entity, for who prefers HTML to every RDF format; None for all others."""
    if choose(request.headers.get("accept"), _GRAPHS_OR_HTML) is not _HTML:
        return None
    address = f"/#/explore?iri={quote(iri, safe='')}"
    return RedirectResponse(address, status_code=303, headers={"Vary": "Accept"})


@cache
def web_files() -> dict[str, WebFile]:
    """The files by name, read once."""
    found = {}
    for path in files("server").joinpath("web").iterdir():
        content_type = _MEDIA_TYPES.get(path.name.rpartition(".")[2])
        if content_type is not None:
            body = path.read_bytes()
            tag = hashlib.blake2b(body, digest_size=12).hexdigest()
            found[path.name] = WebFile(content_type, body, gzip.compress(body, 9, mtime=0), tag)
    return found


def _answer(request: Request, file: WebFile, more: dict[str, str]) -> Response:
    vary = ", ".join(filter(None, (more.get("Vary"), "Accept-Encoding")))
    headers = {**_HEADERS, "ETag": f'"{file.tag}"', "Content-Type": file.content_type, "Vary": vary}
    if Conditions.read(None, request.headers.get("if-none-match")).is_known(file.tag):
        return Response(status_code=304, headers=headers)
    if accepts_gzip(request.headers.get("accept-encoding", "")):
        return Response(file.compressed, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.body, headers=headers)
