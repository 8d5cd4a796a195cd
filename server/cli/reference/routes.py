"""The table of routes, from the OpenAPI description."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from starlette.types import ASGIApp

from server.app import create_app
from server.runtime.wiring import build
from server.settings_loading import load_settings

_HEADS = ("| method | path | operation | what it does |", "|---|---|---|---|")
_METHODS = ("get", "put", "post", "patch", "delete")


def routes_page() -> str:
    """One table for each group of routes: method, path, operation, what it does."""
    described = _description()
    groups: dict[str, list[str]] = {}
    for path, item in described["paths"].items():
        for method in _METHODS:
            operation = item.get(method)
            if operation is not None:
                row = (
                    f"| {method.upper()} | `{path}` | `{operation['operationId']}` | {_summary(operation)} |"
                )
                groups.setdefault(operation.get("tags", ["others"])[0], []).append(row)
    about = {tag["name"]: tag.get("description", "") for tag in described.get("tags", ())}
    return "\n\n".join(
        "\n".join([f"## {tag}", "", about.get(tag, ""), "", *_HEADS, *rows]) for tag, rows in groups.items()
    )


def _description() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        services = build(load_settings({"data": Path(folder), "readers": 1}, environment={}).settings)
        try:
            return asyncio.run(_asked(create_app(services)))
        finally:
            services.store.close()


async def _asked(app: ASGIApp) -> dict[str, Any]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        found: dict[str, Any] = (await client.get("/openapi.json")).raise_for_status().json()
        return found


def _summary(operation: dict[str, Any]) -> str:
    """The first sentence of the description, else the summary."""
    text = operation.get("description") or operation.get("summary", "")
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")
