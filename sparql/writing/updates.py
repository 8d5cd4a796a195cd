"""Computes the changes of an update without changing anything.

``capture`` runs each operation's WHERE once, fills its templates from the solutions, and records additions
and removals. Exactly this delta is judged and committed afterwards; the request itself is never run, since
UUID(), RAND() and NOW() would return other values the second time. An operation that reads after an earlier
one of the same request has changed something reads a scratch clone of the store with that change.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import cast

import pyoxigraph
from pyoxigraph import NamedNode

from sparql.model.errors import MalformedRequest, RemoteAccessRefused
from sparql.model.triple_store import Readable
from sparql.storage.database import WriteBuffer
from sparql.syntax.problems import syntax_problem
from sparql.syntax.request_facts import Kind, facts_of
from sparql.syntax.updates import Load, Modify, Operation, read_operations
from sparql.writing.update_account import Account, QuadDelta
from sparql.writing.update_steps import Functions, Step

_REMEMBERED_LENGTH = 4096


def read_update(text: str, base: str | None = None) -> tuple[Operation, ...]:
    """The operations of an update; ``base`` resolves relative IRIs where the text has no BASE.

    Repeated texts are cached. Raises RequestError for a text that is not an update, or that would reach
    another host.
    """
    return _remembered(text, base) if len(text) <= _REMEMBERED_LENGTH else _read(text, base)


@lru_cache(maxsize=256)
def _remembered(text: str, base: str | None) -> tuple[Operation, ...]:
    return _read(text, base)


def _read(text: str, base: str | None) -> tuple[Operation, ...]:
    facts = facts_of(text)
    if facts.kind is Kind.QUERY:
        raise MalformedRequest("This is a query, not an update; send it as a query.")
    if facts.kind is None:
        facts.refuse_remote_access()
        _check_empty(text)
        return ()
    # Only parsed so far, so that syntax errors are reported first.
    operations = tuple(read_operations(text, base))
    if facts.services:
        raise RemoteAccessRefused("SERVICE", facts.services[0])
    for operation in operations:
        if isinstance(operation, Load) and not operation.silent:
            raise RemoteAccessRefused("LOAD", str(operation.document))
    return operations


def capture(
    store: Readable,
    update: str | Sequence[Operation],
    *,
    using: Sequence[NamedNode] = (),
    using_named: Sequence[NamedNode] = (),
    base: str | None = None,
    functions: Functions | None = None,
    aggregates: Functions | None = None,
    scratch: Path | None = None,
    writable: bool = False,
    buffer: WriteBuffer | None = None,
) -> QuadDelta:
    """The delta of a SPARQL 1.1 update on ``store``, which is only read and must not change meanwhile.

    ``update`` is its text, or the result of ``read_update``. ``using`` and ``using_named`` are the dataset of
    the request (SPARQL 1.1 Protocol, 2.2.3). Scratch clones are made in ``scratch``; on the store's own file
    system they only cost hard links. A ``writable`` store is itself a clone: it is written to instead, which
    counts in `buffer`, and restored afterwards (OSError if that fails). Everything runs in the calling
    thread. Raises RequestError and WriteError.
    """
    operations = read_update(update, base) if isinstance(update, str) else update
    request_dataset = (tuple(using), tuple(using_named))
    with Account(store, scratch, writable=writable, buffer=buffer) as account:
        for operation in operations:
            Step(account, functions, aggregates, request_dataset).carry_out(operation)
        return account.delta()


def stated(operations: Sequence[Operation]) -> QuadDelta | None:
    """The delta of INSERT DATA and DELETE DATA, which follows from their text alone; None for others.

    Its removals are all that the text removes, whether in the store or not. Raises WriteError.
    """
    if not all(isinstance(one, Modify) and one.where is None for one in operations):
        return None
    with Account(_EVERYTHING, None, writable=False) as account:
        for operation in operations:
            Step(account, None, None, ((), ())).carry_out(operation)
        return account.delta()


class _Everything:
    """A dataset that supports nothing but containment, and contains every quad."""

    def __contains__(self, quad: object) -> bool:
        return True


_EVERYTHING = cast("Readable", _Everything())


def needs_worker(operations: Sequence[Operation]) -> bool:
    """Whether an update evaluates a pattern, which may take any time: then it must run in a worker process.

    INSERT DATA, DELETE DATA and graph management take time in proportion to their changes.
    """
    return any(isinstance(one, Modify) and one.where is not None for one in operations)


def _check_empty(text: str) -> None:
    """An update of no operations is valid; other text without an operation is not."""
    try:
        pyoxigraph.Store().update(text)
    except SyntaxError as error:
        raise syntax_problem("update", str(error), text) from error
