"""The check that a request has only parameters that its address knows."""

from __future__ import annotations

from collections.abc import Collection

from starlette.requests import Request

from server.errors import UnknownParameters
from server.http.access.guard import refuse_key_in_address


def check_parameters(request: Request, known: Collection[str]) -> None:
    """Raises `UnknownParameters` for query parameters that are not known, and `KeyInAddress`."""
    # The answer names unknown parameters, and no answer repeats a key.
    refuse_key_in_address(request)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise UnknownParameters(unknown, known)
