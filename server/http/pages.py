"""Lists that are told in pages: all there is, which part is wanted, and that part."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")


def page(
    name: str, found: Sequence[Item], offset: int, limit: int, tell: Callable[[Item], dict[str, Any] | None]
) -> dict[str, Any]:
    """The part of a list as JSON under its name, with the total; `tell` is called for that part only.

    It returns None for what was removed since the list was made.
    """
    shown = [told for one in found[offset : offset + limit] if (told := tell(one)) is not None]
    return {"total": len(found), "offset": offset, "limit": limit, name: shown}
