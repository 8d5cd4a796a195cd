"""Conditional requests on graphs: ETags by revision, If-Match and If-None-Match (RFC 9110, 8.8 and 13.1).

A tag is ``"REVISION-GRAPH-FORMAT"``, or ``"REVISION-GRAPH-FORMAT-gzip"`` where the body was compressed. Reads
compare everything except the compression, writes only revision and graph: a client that read a graph in any
format may replace it on the condition that nothing was written since.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from pyoxigraph import NamedNode

from sparql.model.errors import PreconditionFailed
from sparql.protocol.formats import Format

_TAG = re.compile(r'(W/)?"([^"]*)"')
COMPRESSED = "-gzip"
"""The suffix for a compressed body, since its bytes differ (RFC 9110, 8.8.3.3)."""


def graph_tag(revision: int, graph: NamedNode | None, format_: Format | None = None) -> str:
    """The opaque part of the tag of a graph (None: the default graph) at a revision."""
    name = b"" if graph is None else graph.value.encode()
    core = f"{revision}-{hashlib.blake2b(name, digest_size=8).hexdigest()}"
    return core if format_ is None else f"{core}-{format_.name}"


@dataclass(frozen=True)
class TagList:
    """The value of If-Match or If-None-Match: any tag, or those listed, with weak ones separate."""

    any: bool = False
    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    @classmethod
    def read(cls, header: str | None) -> TagList | None:
        """None for a missing header."""
        if header is None:
            return None
        if header.strip() == "*":
            return cls(any=True)
        found = [(mark, tag.removesuffix(COMPRESSED)) for mark, tag in _TAG.findall(header)]
        return cls(
            strong=frozenset(tag for mark, tag in found if not mark),
            weak=frozenset(tag for mark, tag in found if mark),
        )


@dataclass(frozen=True)
class Conditions:
    """The conditions that a request sets on the current graph."""

    if_match: TagList | None = None
    if_none_match: TagList | None = None

    @classmethod
    def read(cls, if_match: str | None, if_none_match: str | None) -> Conditions:
        """From the values of the two headers."""
        return cls(TagList.read(if_match), TagList.read(if_none_match))

    def is_known(self, tag: str) -> bool:
        """Whether the client already has the representation, so the answer is 304 (13.1.2)."""
        known = self.if_none_match
        return known is not None and (known.any or tag in known.strong or tag in known.weak)

    def check_read(self, tag: str) -> None:
        """Raises PreconditionFailed when a read requires another state than this (13.1.1)."""
        wanted = self.if_match
        if wanted is not None and not wanted.any and tag not in wanted.strong:
            raise PreconditionFailed("The graph is no longer what If-Match names; read it without If-Match.")

    def check_write(self, revision: int, graph: NamedNode | None, *, exists: bool) -> None:
        """Raises PreconditionFailed when the graph at this revision does not meet the conditions."""
        core = graph_tag(revision, graph)
        if self.if_match is not None and not _names(self.if_match, core, exists=exists, weak=False):
            raise PreconditionFailed(
                "The store was changed since the revision that If-Match names, or there is no such graph; "
                "read the graph again and repeat the change on its current content."
            )
        if self.if_none_match is not None and _names(self.if_none_match, core, exists=exists, weak=True):
            raise PreconditionFailed(
                "The graph exists in a state that If-None-Match excludes; leave the header out to overwrite."
            )


def _names(tags: TagList, core: str, *, exists: bool, weak: bool) -> bool:
    if not exists:
        return False
    listed = tags.strong | tags.weak if weak else tags.strong
    return tags.any or any(tag == core or tag.startswith(core + "-") for tag in listed)
