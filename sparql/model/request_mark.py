"""Marks the commit of a request that may be repeated, so that what became of it is known after a crash.

The mark is one quad of the state graph, in the same atomic commit as what the request writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Literal, NamedNode, Quad

from sparql.model.source import QuadSource
from sparql.model.vocabulary import STATE, UKG, XSD

_PREFIX: Final = "urn:x-urbankg:request:"


@dataclass
class RequestMark:
    """The mark of one request. `finished` hands over, once each, marks that are no longer needed."""

    identifier: str
    finished: Callable[[], Collection[Quad]] = tuple
    revision: int | None = None
    """That of the first commit of the request, once there is one; the disk may still refuse it."""
    only_reads: bool = False
    """Whether the request turned out to be a query: its repeat is answered anew."""

    def quad(self, revision: int) -> Quad:
        """The mark itself."""
        node = NamedNode(_PREFIX + self.identifier)
        return Quad(node, UKG.requestCommitted, Literal(str(revision), datatype=XSD.integer), STATE)

    def added(
        self, additions: Collection[Quad], removals: Collection[Quad], revision: int
    ) -> tuple[Collection[Quad], Collection[Quad]]:
        """What a commit adds and removes, with the mark if it is the first one of the request."""
        if self.revision is not None:
            return additions, removals
        self.revision = revision
        return [*additions, self.quad(revision)], [*removals, *self.finished()]


_current: ContextVar[RequestMark | None] = ContextVar("request_mark", default=None)


def current_mark() -> RequestMark | None:
    """The mark of the request that this code works for, if it has one."""
    return _current.get()


@contextmanager
def marking(mark: RequestMark | None) -> Iterator[None]:
    """Let the commits of the block, and of threads that copy its context, carry the mark."""
    token = _current.set(mark)
    try:
        yield
    finally:
        _current.reset(token)


def marks(store: QuadSource) -> dict[str, Quad]:
    """The marks in a store, by the identifiers of their requests."""
    found = store.match_quads(None, UKG.requestCommitted, None, STATE)
    return {
        quad.subject.value.removeprefix(_PREFIX): quad
        for quad in found
        if isinstance(quad.subject, NamedNode)
    }


def marked_revision(store: QuadSource, identifier: str) -> int | None:
    """The revision that a request was committed as; None if it was not."""
    node = NamedNode(_PREFIX + identifier)
    for quad in store.match_quads(node, UKG.requestCommitted, None, STATE):
        assert isinstance(quad.object, Literal)
        return int(quad.object.value)
    return None
