"""Lists that are returned in pages: all there is, which part is wanted, and that part."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

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
