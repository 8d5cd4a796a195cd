"""The parameters of routes: those of every route that lists in pages, and the check of all others."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Query, params
from fastapi.dependencies.models import Dependant
from starlette.requests import Request

from server.http.parameters import check_parameters

Offset = Annotated[int, Query(ge=0, le=10**9)]
Needed = params.Depends
"""What all routes of a router depend on."""
NUMBERS = r"^-?[0-9]+(\.[0-9]+)?(,-?[0-9]+(\.[0-9]+)?){3}$"
"""Four numbers with commas between, as JSON Schema knows regular expressions: a box."""
Limit = Annotated[int, Query(ge=1, le=1000)]


def known_parameters(request: Request) -> None:
    """A dependency of routes. Raises `UnknownParameters` for query parameters that the route lacks."""
    check_parameters(request, set(_declared(request.scope["route"].dependant)))


def _declared(dependant: Dependant) -> Iterator[str]:
    """The query parameters of a route and of what it depends on."""
    yield from (one.alias for one in dependant.query_params)
    for one in dependant.dependencies:
        yield from _declared(one)
