"""Warnings that are sent with the current answer.

A read deep inside a request (a name lookup, a step of a plan) may find something that the client should know
although the answer continues. The server opens a list for each request and sends its content with the answer.
"""

from __future__ import annotations

from contextvars import ContextVar

_open: ContextVar[list[str] | None] = ContextVar("answer_warnings", default=None)


def collect() -> list[str]:
    """Return the list that collects warnings of this context and of all tasks and threads started in it."""
    found: list[str] = []
    _open.set(found)
    return found


def warn(sentence: str) -> None:
    """Add a warning to the answer, once; does nothing where no answer is being made."""
    found = _open.get()
    if found is not None and sentence not in found:
        found.append(sentence)


def behind(read: int, newest: int) -> str:
    """The warning for an answer that may miss acknowledged writes."""
    return (
        f"The disk is full: this answer is of revision {read} and may miss what was written since "
        f"(the newest revision is {newest})."
    )
