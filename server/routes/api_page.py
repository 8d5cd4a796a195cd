"""`/docs`: the API to read and to try out in a browser. Nothing of it comes from another host.

The page's script and style are Swagger UI's, from the package fastapi-offline.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import FileResponse, Response

from server.errors import UnknownResource
from server.services import Services

_PAGE: Final = "/docs"
_MEDIA_TYPES: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}


def router(services: Services) -> APIRouter:
    """The page and its files; they are no part of the API's description, and hold nothing of the graph."""
    routes = APIRouter(include_in_schema=False)

    @routes.get(_PAGE)
    async def get_page() -> Response:
        return get_swagger_ui_html(
            openapi_url="/openapi.json",
            title=f"UrbanKG at {services.settings.base_url}",
            swagger_js_url=f"{_PAGE}/swagger-ui-bundle.js",
            swagger_css_url=f"{_PAGE}/swagger-ui.css",
            swagger_favicon_url=f"{_PAGE}/favicon.png",
        )

    @routes.get(f"{_PAGE}/{{name}}")
    async def get_file(name: str) -> Response:
        if name not in _MEDIA_TYPES:
            raise UnknownResource(f"The page has no file '{name}'; open {_PAGE}.")
        return FileResponse(_files() / name, media_type=_MEDIA_TYPES[name])

    return routes


def _files() -> Path:
    """Where the package keeps them; it is not imported."""
    spec = find_spec("fastapi_offline")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "static"
