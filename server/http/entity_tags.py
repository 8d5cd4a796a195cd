"""Entity tags of queries' answers (RFC 9110, 8.8.3): the store's revision, and a digest of the request."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from pyoxigraph import NamedNode
from starlette.requests import Request

from sparql.protocol.formats import Format

# What these give differs between two runs at one revision.
_VARYING = re.compile(r"\b(?:NOW|RAND|UUID|STRUUID|BNODE)\s*\(")
_VARYING_NAMES = ("NOW", "RAND", "UUID", "BNODE")


def is_varying(text: str) -> bool:
    """Whether the answers of two runs may differ although nothing has changed."""
    text = text.upper()
    # Hardly any text has one of the names, and to find that out takes a tenth of the search.
    return any(name in text for name in _VARYING_NAMES) and _VARYING.search(text) is not None


class EntityTag:
    """The tag of the answers to one query; a weak one, since the order of rows is not promised."""

    def __init__(
        self,
        text: str,
        format_: Format,
        default_graphs: Sequence[NamedNode] = (),
        named_graphs: Sequence[NamedNode] = (),
        options: str = "",
    ) -> None:
        graphs: tuple[str, ...] = ("urn:x-and",)
        if default_graphs or named_graphs:
            default, named = ([one.value for one in some] for some in (default_graphs, named_graphs))
            graphs = (*default, *graphs, *named)
        content = "\0".join((text, format_.name, *graphs, options))
        self._digest = hashlib.blake2b(content.encode(), digest_size=12).hexdigest()

    def at(self, revision: int) -> str:
        """The tag at a revision of the store."""
        return f'W/"{revision}-{self._digest}"'


def matches(request: Request, tag: str) -> bool:
    """Whether the client has the answer with this tag already (RFC 9110, 13.1.2)."""
    if request.method not in ("GET", "HEAD"):
        return False
    known = request.headers.get("if-none-match")
    if known is None:
        return False
    bare = tag.removeprefix("W/")
    return any(one.strip() == "*" or one.strip().removeprefix("W/") == bare for one in known.split(","))
