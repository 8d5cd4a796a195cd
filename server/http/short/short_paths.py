"""The short paths in front of the application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from server.http.short.lookup_lane import LookupLane
from server.http.short.update_lane import UpdateLane
from sparql.storage.embedded_store import EmbeddedStore

if TYPE_CHECKING:
    from server.runtime.context import Services


def with_short_paths(app: ASGIApp, services: Services) -> ASGIApp:
    """The application behind its short paths; those that are counted for a rate limit all go to it."""
    if services.settings.requests_per_second > 0:
        return app
    app = UpdateLane(app, services)
    store = services.store
    return LookupLane(app, services, store) if isinstance(store, EmbeddedStore) else app
