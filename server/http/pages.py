"""Lists that are returned in pages: all there is, which part is wanted, and that part."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Response, params
from fastapi.dependencies.models import Dependant
from starlette.requests import Request

from server.errors import UnknownParameters
from server.http.access.guard import refuse_key_in_address

Item = TypeVar("Item")
MOST_BYTES: Final = 4 * 2**20
"""How long a list in one reply may be; a client follows `Link` to the rest."""


def page(
    name: str,
    found: Sequence[Item],
    offset: int,
    limit: int,
    describe: Callable[[Item], dict[str, Any] | None],
) -> dict[str, Any]:
    """The part of a list as JSON under its name, with the total; `describe` is called for that part only.

    It returns None for what was removed since the list was made. Of many long items fewer are shown than
    were asked for: see `fitting`.
    """
    described = (describe(one) for one in found[offset : offset + limit])
    shown, read = fitting(described, limit)
    return {"total": len(found), "offset": offset, "limit": read, name: shown}


def fitting(items: Iterable[dict[str, Any] | None], limit: int) -> tuple[list[dict[str, Any]], int]:
    """As many items as fit into a reply, at least one, and how many a page of this length has.

    None stands for an item that is not there any more. The pages around are counted by that number.
    """
    shown: list[dict[str, Any]] = []
    size = 0
    for read, item in enumerate(items):
        if item is None:
            continue
        size += len(json.dumps(item, default=str))
        if shown and size > MOST_BYTES:
            return shown, read
        shown.append(item)
    return shown, limit


class PageLinks:
    """Sets the `Link` header of a page (RFC 8288): the first, previous, next and last page of the same list.

    The targets are relative to the address of the request, so they hold behind a proxy too.
    """

    def __init__(self, request: Request, response: Response) -> None:
        self._request = request
        self._response = response

    def __call__(self, page: dict[str, Any]) -> dict[str, Any]:
        """The page itself."""
        links = page_links(page, [*self._request.query_params.multi_items()])
        self._response.headers["Link"] = ", ".join(
            f'<{target}>; rel="{name}"' for name, target in links.items()
        )
        return page


Links = Annotated[PageLinks, Depends()]


def page_links(page: Mapping[str, Any], parameters: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The addresses of the pages around one, by their relation to it."""
    total, offset, limit = page["total"], page["offset"], page["limit"]
    kept = [(name, value) for name, value in parameters if name not in ("offset", "limit")]
    starts = {"first": 0, "last": max(0, total - 1) // limit * limit}
    if offset > 0:
        starts["prev"] = max(0, offset - limit)
    if offset + limit < total:
        starts["next"] = offset + limit
    return {
        name: "?" + urlencode([*kept, ("offset", start), ("limit", limit)]) for name, start in starts.items()
    }


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


def check_parameters(request: Request, known: Collection[str]) -> None:
    """Raises `UnknownParameters` for query parameters that are not known, and `KeyInAddress`."""
    # The answer names unknown parameters, and no answer repeats a key.
    refuse_key_in_address(request)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise UnknownParameters(unknown, known)
