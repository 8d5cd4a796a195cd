"""Warnings that go out with whatever answer is being made.

A read that is deep within a request (a name looked up, a plan's step) may find out what the client should
hear of, although the answer goes on. The server opens a list for each request, and sends what is on it with
the answer.
"""

from __future__ import annotations

from contextvars import ContextVar

_open: ContextVar[list[str] | None] = ContextVar("answer_warnings", default=None)


def collect() -> list[str]:
    """The list that warnings of this context, and of all tasks and threads begun in it, go to from now on."""
    found: list[str] = []
    _open.set(found)
    return found


def warn(sentence: str) -> None:
    """Have the client hear this with the answer, once; nothing where no answer is being made."""
    found = _open.get()
    if found is not None and sentence not in found:
        found.append(sentence)


def behind(read: int, newest: int) -> str:
    """What is said of an answer that may miss acknowledged writes."""
    return (
        f"The disk is full: this answer is of revision {read} and may miss what was written since "
        f"(the newest revision is {newest})."
    )
