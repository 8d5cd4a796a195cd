"""Warnings that are sent with the current answer, and what they say of names that are not known.

A read deep inside a request (a name lookup, a step of a plan) may find something that the client should know
although the answer continues. The server opens a list for each request and sends its content with the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from difflib import get_close_matches

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


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one is most likely a misspelling of; letters count alike in either case."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = get_close_matches(name.lower(), by_lower, 1)
    return by_lower[near[0]] if near else None


def unknown_name(kind: str, name: str, known: Sequence[str]) -> str:
    """What is said of a name that is not known, for example of a member or a parameter."""
    near = nearest_name(name, known)
    if near is not None:
        return f"there is no {kind} '{name}'; did you mean '{near}'?"
    listed = ", ".join(sorted(known)) or "none"
    return f"there is no {kind} '{name}'. Known here: {listed}"


def unused_parameters(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """A warning that parameters of a request were not used; none where all are known."""
    known = tuple(known)
    unused = dict.fromkeys(name for name in names if name not in known)
    said = []
    for name in list(unused)[:_NAMED]:
        near = nearest_name(name, known)
        said.append(f"'{name[:_SHOWN]}'" + (f" (did you mean '{near}'?)" if near else ""))
    if not said:
        return ()
    more = f" and {len(unused) - _NAMED} others" if len(unused) > _NAMED else ""
    return (f"Parameters that are not known here were not used: {', '.join(said)}{more}.",)


_NAMED = 5
_SHOWN = 80
