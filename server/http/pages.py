"""Lists that are returned in pages: all there is, which part is wanted, and that part."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Response
from starlette.requests import Request

Item = TypeVar("Item")


def page(
    name: str,
    found: Sequence[Item],
    offset: int,
    limit: int,
    describe: Callable[[Item], dict[str, Any] | None],
) -> dict[str, Any]:
    """The part of a list as JSON under its name, with the total; `describe` is called for that part only.

    It returns None for what was removed since the list was made.
    """
    shown = [described for one in found[offset : offset + limit] if (described := describe(one)) is not None]
    return {"total": len(found), "offset": offset, "limit": limit, name: shown}


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
