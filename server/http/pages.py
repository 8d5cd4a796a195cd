"""Lists that are told in pages: all there is, which part is wanted, and that part."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")


def page(
    name: str, found: Sequence[Item], offset: int, limit: int, tell: Callable[[Item], dict[str, Any]]
) -> dict[str, Any]:
    """The part of a list as JSON under its name, with the total; only what is on the page is told."""
    shown = [tell(one) for one in found[offset : offset + limit]]
    return {"total": len(found), "offset": offset, "limit": limit, name: shown}
