"""Starts a server, the readers first: they start while the server's modules are imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from server.runtime.settings_loading import chosen
from sparql.workers.processes.launching import launched


def start(flags: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> None:
    """Serve with the settings of these flags, and of those `before` the command, until stopped.

    Raises what `serving.serve` raises, and `SettingsError`.
    """
    settings = chosen(before or {"config": None}, **flags).settings
    number = settings.readers if settings.store_url is None else 0
    with launched(number, settings.query_memory_bytes) as readers:
        # Their modules form circles: two threads that enter one at two places fail. So they are imported
        # whole, before any thread starts.
        import numpy  # noqa: F401
        import shapely  # noqa: F401

        from server.runtime.serving import serve

        serve(settings, readers)
