"""`/`: the page, and under `/ui/` its files, as `make ui` builds them from `web/`.

The page uses the public API like any other client. Its content security policy allows its own files only: no
inline script or style, no request to another host but for the pictures of an operator's map tiles.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final
from urllib.parse import quote, urlsplit

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from server.errors import UnknownResource
from server.http.bodies.content_coding import accepts_gzip
from server.routes.graph.collections import landing_page
from server.services import Services
from sparql.protocol.formats import GRAPH_FORMATS, MediaType, choose
from sparql.protocol.requests import Conditions

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
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{tiles}; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
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
    settings = services.settings
    start = with_tiles(web_files()["index.html"], settings.tile_address, settings.tile_credit)
    tiles = f" {origin_of(settings.tile_address)}" if settings.tile_address else ""
    policy = {"Content-Security-Policy": _POLICY.format(tiles=tiles)}

    @routes.get("/", responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}})
    async def get_start(request: Request) -> Response:
        """The page; a client that prefers JSON gets the addresses of everything."""
        if choose(request.headers.get("accept"), (_HTML, _JSON)) is _JSON:
            return landing_page(services, request)
        return _answer(request, start, {"Vary": "Accept", **policy})

    @routes.get("/ui/{name}", include_in_schema=False)
    async def get_file(request: Request, name: str) -> Response:
        found = web_files().get(name)
        if found is None:
            raise UnknownResource(f"The page has no file '{name}'; open /, or {_DOCS} for the API.")
        return _answer(request, found, policy)

    return routes


def page_of(request: Request, iri: str) -> Response | None:
    """Where the page shows an entity, for who prefers HTML to every RDF format; None for all others."""
    if not prefers_html(request):
        return None
    address = f"/#/explore?iri={quote(iri, safe='')}"
    return RedirectResponse(address, status_code=303, headers={"Vary": "Accept"})


def prefers_html(request: Request) -> bool:
    """Whether a client prefers HTML to every RDF format."""
    return choose(request.headers.get("accept"), _GRAPHS_OR_HTML) is _HTML


@cache
def web_files() -> dict[str, WebFile]:
    """The files by name, read once."""
    found = {}
    for path in files("server").joinpath("web").iterdir():
        content_type = _MEDIA_TYPES.get(path.name.rpartition(".")[2])
        if content_type is not None:
            found[path.name] = _file(content_type, path.read_bytes())
    return found


def with_tiles(index: WebFile, address: str, credit: str) -> WebFile:
    """The start of the page, with the address of the map tiles that the operator chose."""
    if not address:
        return index
    named = f'<meta name="tiles" content="{escape(address)}" data-credit="{escape(credit)}">\n</head>'
    return _file(index.content_type, index.body.replace(b"</head>", named.encode()))


def origin_of(address: str) -> str:
    """Scheme, host and port of an address, as a policy names them."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _file(content_type: str, body: bytes) -> WebFile:
    tag = hashlib.blake2b(body, digest_size=12).hexdigest()
    return WebFile(content_type, body, gzip.compress(body, 9, mtime=0), tag)


def _answer(request: Request, file: WebFile, more: dict[str, str]) -> Response:
    vary = ", ".join(filter(None, (more.get("Vary"), "Accept-Encoding")))
    headers = {**_HEADERS, **more, "ETag": f'"{file.tag}"', "Content-Type": file.content_type, "Vary": vary}
    if Conditions.read(None, request.headers.get("if-none-match")).is_known(file.tag):
        return Response(status_code=304, headers=headers)
    if accepts_gzip(request.headers.get("accept-encoding", "")):
        return Response(file.compressed, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.body, headers=headers)
