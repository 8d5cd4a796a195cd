"""What the server itself refuses, beside what the packages below it refuse.

More of this tree: `server/jobs/job.py`, `server/rules/edits.py`, `server/gaps/__init__.py`.

ServerError
├── SettingsError       a setting that cannot be used
├── FolderMissing       a command on a graph whose folder is not there
├── OpenWritesRefused   another address than loopback while anyone may write
├── Misdirected         a request for another host name than the server's
├── ForeignOrigin       a web page of another origin tried to write
├── KeyNeeded           no key, or one that is not valid
├── ScopeMissing        a key that may not do this
├── KeyInAddress        a key in the address, which logs and histories keep
├── KeyNameTaken, KeyUnknown  at `urbankg key create` and `revoke`
├── StateUnreadable     the database beside the graph cannot be used
│   └── StateFull       because the disk is full
├── TooLong             a SPARQL text over its length
├── NestedTooDeep       brackets of a text or body nest too deep
├── TextTooComplex      a SPARQL text with too many operators
├── BodyTooLarge        a request body over the limit
├── MalformedBody       a body that is not what its content type says, or not what is asked for
├── InvalidBody         a body with members missing or of the wrong form
├── GeometryTooCostly   geometries whose relation takes too long or too much memory
├── SelectionChanged    a bulk decision on another number of items than it expected
├── UnknownParameters   parameters that the address does not have
├── UnknownValues       values of a filter that neither rules, graph nor queue know
├── ParameterUnusable   a parameter whose value, or whose name, this address does not take
├── UnsupportedBody     a content type that this address does not read
├── UnsupportedCoding   a body that is packed by anything but gzip
├── IdempotencyKeyUnusable  an Idempotency-Key that is empty, too long or sent twice
├── IdempotencyKeyReused    an Idempotency-Key that came with another request before
├── RequestUnderWay     a repeated request whose first one is not answered yet
├── ReplyLost           a repeated request that was carried out, and whose reply was not kept
├── TooManyListeners    a stream of events has all the listeners it takes
└── UnknownResource     an identifier that does not exist
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from server.message import ended
from sparql.model.answer_warnings import unknown_name
from sparql.storage.database import is_full_for_sqlite


class ServerError(Exception):
    """Base of the server's errors; the message says what to do."""


class SettingsError(ServerError):
    """A setting that cannot be used."""


class FolderMissing(ServerError):
    """A command on a graph whose folder is not there, which is rather mistyped than meant to be made."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"There is no folder {folder}. Name the folder of a graph with --data; `urbankg serve`, `load` "
            "and `demo` make a new one."
        )


class OpenWritesRefused(ServerError):
    """The server would listen to other machines while everyone may write."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"Refusing to listen on {host}: writes are open, so anyone who reaches it could change the "
            "graph. Make a key first (`urbankg key create NAME --scope write`), or listen on 127.0.0.1."
        )


class Misdirected(ServerError):
    """A request for another host name than the server's."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"This server does not answer to the name '{host[:200]}'. Use its own address; if the name is "
            "right, the operator adds it to the setting `allowed_hosts`."
        )


class ForeignOrigin(ServerError):
    """A web page of a foreign origin tried to write, or to have something computed."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"This request from the origin '{origin[:200]}' is refused: without a key it is taken only from "
            "programs on this machine and from the server's own pages. Set `public_url` if it is one of them."
        )


class KeyNeeded(ServerError):
    """A request that needs a key came without one, or with one that is not valid (`sent`)."""

    def __init__(self, what: str, scope: str, *, sent: bool = False) -> None:
        super().__init__(
            f"{what}: send one with scope '{scope}' as 'Authorization: Bearer KEY'. "
            "The operator makes keys with `urbankg key create`."
        )
        self.scope = scope
        self.sent = sent


class ScopeMissing(ServerError):
    """A valid key that may not do this."""

    def __init__(self, name: str, scope: str) -> None:
        super().__init__(
            f"The key '{name}' does not have the scope '{scope}'. Ask the operator for one that has."
        )
        self.scope = scope


class KeyInAddress(ServerError):
    """A key in the query string, where proxies, logs and histories keep it."""

    def __init__(self) -> None:
        super().__init__(
            "Keys are not taken from the address, because logs keep it. Send 'Authorization: Bearer KEY', "
            "and have this key revoked: it may have been seen."
        )


class KeyNameTaken(ServerError):
    """Two valid keys would have one name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a key named '{name}' already. Revoke it first, or choose another name.")


class KeyUnknown(ServerError):
    """No valid key has that name or identifier."""

    def __init__(self, name: str) -> None:
        super().__init__(f"No valid key is named '{name}'. `urbankg key list` shows those there are.")


class DryRunUnknown(ServerError):
    """A dry run whose candidates are not kept, or not any more."""

    def __init__(self, identifier: str) -> None:
        super().__init__(
            f"The candidates of the dry run '{identifier[:100]}' are not kept any more: it was committed, "
            "others came after it, or the server was started anew. Send the text again."
        )


class StateUnreadable(ServerError):
    """The database beside the graph cannot be opened, read or written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} cannot be used: {reason}. Check its permissions and the disk's free space; if the file "
            "is damaged, make a new folder from a backup with `urbankg restore`."
        )


class StateFull(StateUnreadable):
    """The database beside the graph cannot be written: the disk is full."""

    def __init__(self, path: Path, reason: str) -> None:
        ServerError.__init__(
            self,
            f"The disk is full, so nothing of this was written to {path} ({reason}). Make room, then send it "
            "again: no restart is needed.",
        )


def state_error(path: Path, error: Exception) -> StateUnreadable:
    """The error of this program for one of SQLite or the operating system about a database."""
    kind = StateFull if is_full_for_sqlite(error, path.parent) else StateUnreadable
    return kind(path, str(error))


class TooLong(ServerError):
    """A SPARQL text over its length."""

    def __init__(self, kind: str, limit: int) -> None:
        self.limit = limit
        super().__init__(
            f"The {kind} is longer than {limit} characters. Send it in parts; the operator can raise "
            f"max_{kind}_chars."
        )


class NestedTooDeep(ServerError):
    """Brackets nest deeper than parsers take without harm."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"The text nests deeper than {limit} levels. Write it flatter.")


class TextTooComplex(ServerError):
    """More operators than the engine takes without harm."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(
            f"The text has more than {limit} operators. Use VALUES or IN for long lists, or send it in parts."
        )


class BodyTooLarge(ServerError):
    """A request body over the limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"The body is larger than {limit} bytes. Send the text in parts.")


class GeometryTooCostly(ServerError):
    """Geometries whose relation is not computed within its limits of time and memory."""

    def __init__(self, limits: str) -> None:
        super().__init__(
            f"Relating these geometries would take more than {limits}, so it was stopped. Send them with "
            "fewer vertices, or let the operator raise query_timeout_s or query_memory_mb."
        )


class MalformedBody(ServerError):
    """A body that cannot be read as what it claims to be."""


class InvalidBody(ServerError):
    """A body whose members are missing or of the wrong form."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        listed = "; ".join(f"{place}: {message}" for place, message in problems)
        super().__init__(ended(f"The body does not have the form that this address takes: {listed}"))


class UnknownParameters(ServerError):
    """Parameters that the address lacks: ignored, a misspelled filter would let everything through."""

    def __init__(self, unknown: Iterable[str], known: Collection[str]) -> None:
        self.problems = tuple((name, unknown_name("parameter", name, sorted(known))) for name in unknown)
        listed = "; ".join(message for _, message in self.problems)
        super().__init__(ended(f"The request has parameters that this address does not take: {listed}"))


class ParameterUnusable(ServerError):
    """A parameter that cannot be used, where a standard says that this is 400."""

    def __init__(self, name: str, message: str) -> None:
        self.problems = ((name, message),)
        super().__init__(ended(f"Parameter '{name}': {message}"))


class UnknownValues(ServerError):
    """Values of a filter that nothing has: the answer to a misspelt one would be that there is nothing."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        message = "; ".join(message for _, message in problems)
        super().__init__(ended(message[0].upper() + message[1:]))


class SelectionChanged(ServerError):
    """A bulk decision whose items are not as many as the client expected."""

    def __init__(self, expected: int, found: int) -> None:
        self.expected, self.found = expected, found
        super().__init__(
            f"The selection has {found} items, not {expected}: nothing was decided. Look at the selection "
            f"again, then send expect: {found}."
        )


class UnsupportedBody(ServerError):
    """A content type that is not read here."""

    def __init__(self, found: str, known: str) -> None:
        super().__init__(f"Content type '{found}' is not read here. Send one of: {known}.")


class UnsupportedCoding(ServerError):
    """A body in a content coding that is not read here."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"Content coding '{found[:80]}' is not read here. Send the body as it is, or packed by gzip."
        )


class TooManyListeners(ServerError):
    """A stream of events has as many listeners as it takes; ``instead`` says the same when asked."""

    def __init__(self, most: int, instead: str = "/changes?since=REVISION") -> None:
        super().__init__(f"{most} clients listen to these events already; ask for {instead} now and then.")


class UnknownResource(ServerError):
    """An identifier that does not exist."""


class LoadRefused(ServerError):
    """The shapes refused files that were to be loaded; `loads` says what became of each."""

    def __init__(self, names: Sequence[str], loads: Sequence[Mapping[str, Any]]) -> None:
        self.loads = tuple(loads)
        others = len(self.loads) - len(names)
        kept = f" {others} other(s) were loaded." if others else ""
        super().__init__(
            f"Refused as a whole, nothing of it was loaded: {', '.join(names)}.{kept} `loads` says why; fix "
            "it, or send partial=true for what conforms."
        )


class IdempotencyKeyUnusable(ServerError):
    """An `Idempotency-Key` that is empty, too long or sent twice."""

    def __init__(self, longest: int) -> None:
        super().__init__(f"Send one Idempotency-Key, of 1 to {longest} visible ASCII characters.")


class IdempotencyKeyReused(ServerError):
    """An `Idempotency-Key` that came with another request before."""

    def __init__(self, differs: str) -> None:
        super().__init__(
            f"This Idempotency-Key came with another {differs} before. A repeat must be the same request; "
            "send a new one with a key of its own. Nothing was done."
        )


class RequestUnderWay(ServerError):
    """A repeated request whose first one is not answered yet."""

    def __init__(self) -> None:
        super().__init__("The first request with this Idempotency-Key is not answered yet; ask again soon.")


class ReplyLost(ServerError):
    """A repeated request that was carried out, and whose reply was not kept."""

    def __init__(self, revision: int | None, reason: str) -> None:
        self.revision = revision
        what = "" if revision is None else f" as revision {revision}"
        super().__init__(
            f"The first request with this Idempotency-Key was carried out{what}, but its reply {reason}. "
            "Nothing was done again; read what it made."
        )
