"""Lists that are returned in pages: all there is, which part is wanted, and that part."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Response
from starlette.requests import Request

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
