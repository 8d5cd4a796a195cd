"""What can go wrong between a SPARQL request and its answer.

::

    SparqlError
    ├── RequestError                 the request itself
    │   ├── MalformedRequest         parameters missing, doubled, unreadable
    │   ├── SyntaxProblem            the SPARQL text does not parse (line, column)
    │   ├── UnknownFunction          the query calls a function that there is not
    │   ├── NotAcceptable            no format the client accepts
    │   ├── UnsupportedMediaType     a body of a type we do not read
    │   ├── RemoteAccessRefused      SERVICE or LOAD
    │   ├── FetchRefused             an address that SERVICE or LOAD may not reach
    │   ├── PayloadProblem           an RDF body does not parse (line, column)
    │   ├── GraphUnknown             a graph asked for that is not there
    │   ├── PreconditionFailed       If-Match or If-None-Match does not hold
    │   ├── ChangesForgotten         changes older than the log keeps
    │   ├── ProtectedGraph           a write into a graph of the system
    │   ├── ProtectedTriple          a removal of a triple that the system keeps
    │   ├── InferenceTooLarge        a change from which more follows than is inferred with it
    │   └── TooMuchDepends           a change on which more nodes depend than are judged with it
    ├── ReadError                    a sound query that could not be finished
    │   ├── QueryTimeout             over its deadline, stopped
    │   ├── QueryMemoryExceeded      over its memory, stopped
    │   ├── TooManyQueries           the queue is full
    │   ├── QueryFailed              the engine gave up while evaluating
    │   └── ReaderLost               a reader process died or cannot start
    ├── WriteError                   a sound update that could not be carried out
    │   ├── JudgingTimeout           the shapes took too long to judge it
    │   ├── GraphMissing             CLEAR, DROP, COPY ... of a graph that is not there
    │   └── GraphExists              CREATE of a graph that is there
    ├── StripLost                    a portion of a bulk relating that its worker did not answer
    ├── FetchFailed                  another host did not give what SERVICE or LOAD asked of it
    └── StoreError                   the folder of the store
        ├── StoreLocked              another process holds it
        ├── StoreUnreadable          its files cannot be opened
        ├── StoreDamaged             its files can be opened, but do not hold what was written to them
        ├── StoreUnwritable          the disk did not take what was written
        │   └── DiskFull             because it is full
        ├── StoreClosing             the server is shutting down and takes no more writes
        ├── BackupError              a backup that cannot be made or restored
        └── RemoteError              the SPARQL store at another host that holds the graph
            ├── RemoteUnreachable    it takes no connection; nothing was sent
            ├── RemoteRefused        it answered with an error
            ├── RemoteIncomplete     it cut an answer short
            ├── RemoteUndecided      an update may or may not have been applied
            ├── RemoteConflict       somebody else took over its marker
            └── RemoteUnsupported    it cannot hold or do what was asked

Each message says what the sender of the request, or the operator, can do about it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any


class SparqlError(Exception):
    """Any failure of the SPARQL room; ``str(error)`` is a sentence for the client."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        # The initialisers take other arguments than the message, so a copy is not made by calling them.
        return _copied, (type(self), self.args, self.__dict__)


def _copied(kind: type[SparqlError], args: tuple[Any, ...], members: dict[str, Any]) -> SparqlError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


class RequestError(SparqlError):
    """The request cannot be served as it was sent; sending it again changes nothing."""


class MalformedRequest(RequestError):
    """A parameter is missing, doubled or unreadable (SPARQL 1.1 Protocol, 2.1 and 2.2)."""


class SyntaxProblem(RequestError):
    """The SPARQL text does not parse.

    ``line`` and ``column`` count from one, in characters, and are None where the engine names no place.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class UnknownFunction(RequestError):
    """The query calls a function that is not offered; `like` are the IRIs of some with such a name."""

    def __init__(self, iri: str, like: Sequence[str]) -> None:
        meant = f" Perhaps <{'> or <'.join(like)}> is meant." if like else ""
        super().__init__(
            f"There is no function <{iri}> here.{meant} The service description (GET of the endpoint without "
            "a query) lists all."
        )
        self.like = tuple(like)


class NotAcceptable(RequestError):
    """None of the media types that the client accepts can be produced; ``offered`` lists those that can."""

    def __init__(self, accept: str, offered: Sequence[str]) -> None:
        super().__init__(
            f"Nothing in Accept '{accept}' can be produced; ask for one of {', '.join(offered)}."
        )
        self.offered = tuple(offered)


class UnsupportedMediaType(RequestError):
    """A request body of a type that the endpoint does not read; ``supported`` lists those it does."""

    def __init__(self, found: str | None, supported: Sequence[str]) -> None:
        told = f"a body of type '{found}'" if found else "a body without Content-Type"
        super().__init__(f"The endpoint cannot read {told}; send {' or '.join(supported)}, in UTF-8.")
        self.supported = tuple(supported)


class RemoteAccessRefused(RequestError):
    """SERVICE or LOAD in a request: this server does not fetch from other hosts."""

    def __init__(self, keyword: str, target: str) -> None:
        super().__init__(
            f"{keyword} {target} is refused: this server does not reach out to other hosts. "
            f"Fetch the data yourself and send it, or run the query without {keyword}."
        )
        self.keyword = keyword
        self.target = target


class FetchRefused(RequestError):
    """SERVICE or LOAD of an address that the operator does not allow, or that is not public."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"<{url}> is not fetched: {reason}. Send the data itself instead.")
        self.url = url


class FetchFailed(SparqlError):
    """Another host did not give what SERVICE or LOAD asked of it."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"<{url}> could not be used: {reason}. Try again later, or write SILENT to go on without it."
        )
        self.url = url


class PayloadProblem(SyntaxProblem):
    """A body of RDF does not parse; nothing of it was taken."""


class GraphUnknown(RequestError):
    """A named graph was asked for that does not exist."""

    def __init__(self, graph: str) -> None:
        super().__init__(f"There is no graph <{graph}> here; PUT or POST to this address makes it.")
        self.graph = graph


class PreconditionFailed(RequestError):
    """The condition of If-Match or If-None-Match does not hold (RFC 9110, 13.1); nothing was changed."""


class ChangesForgotten(RequestError):
    """The log no longer holds what came after revision ``asked``; ``oldest`` is the least to ask for."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(
            f"The changes after revision {asked} are no longer kept; read the graph itself, then ask for "
            f"what came after its revision (at least {oldest})."
        )
        self.asked = asked
        self.oldest = oldest


class ProtectedGraph(RequestError):
    """A write into one of the system's own graphs, which only the system writes."""

    def __init__(self, graph: object) -> None:
        super().__init__(
            f"Graph {graph} is kept by the system and is read-only; "
            "write to the default graph or to a named graph of your own."
        )
        self.graph = graph


class ProtectedTriple(RequestError):
    """The removal of a triple of the default graph that the system keeps, in the graph that records it."""

    def __init__(self, triple: object, graph: object) -> None:
        super().__init__(
            f"The triple {triple} cannot be removed: the system keeps it (graph {graph}); "
            "change what it follows from instead."
        )
        self.triple = triple
        self.graph = graph


class InferenceTooLarge(RequestError):
    """More follows from a change, by the ontology's axioms, than is inferred with a change."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"More than {limit} conclusions would have to be drawn from this change, so it was not made. "
            "Send it in parts, load it with urbankg load --bulk, or let the operator raise inference_max."
        )
        self.limit = limit


class TooMuchDepends(RequestError):
    """More focus nodes depend on one statement than are judged while others wait to write.

    `shapes` are the names of the shapes that judge them, `additions` what of the change stood by then.
    """

    def __init__(
        self, triple: object, shapes: Collection[str], limit: int, additions: Collection[Any] = ()
    ) -> None:
        super().__init__(
            f"More than {limit} nodes depend on {triple} by the shapes {', '.join(sorted(shapes))}: more "
            "than are judged while others wait to write, so nothing was changed. Send it to POST /candidates "
            "(a text to /extractions), which holds it and judges it beside other requests, or let the "
            "operator raise the setting fan_in_full."
        )
        self.triple = triple
        self.shapes = frozenset(shapes)
        self.limit = limit
        self.additions = frozenset(additions)


class ReadError(SparqlError):
    """A query that was sound but could not be finished."""


class QueryTimeout(ReadError):
    """The query ran past its deadline of ``timeout_s`` seconds and was stopped."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(
            f"The query ran past its limit of {timeout_s:g} s and was stopped; "
            "narrow it, add a LIMIT, or raise the timeout parameter."
        )
        self.timeout_s = timeout_s


class QueryMemoryExceeded(ReadError):
    """The query needed more memory than a reader may take and was stopped."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(
            f"The query needed more than {limit_bytes // 2**20} MiB and was stopped; "
            "sort, group or join fewer rows at a time."
        )
        self.limit_bytes = limit_bytes


class TooManyQueries(ReadError):
    """No reader came free; try again after ``retry_after_s`` seconds."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"All readers are busy and the queue is full; try again in {retry_after_s:g} s.")
        self.retry_after_s = retry_after_s


class QueryFailed(ReadError):
    """The engine gave up while it evaluated or serialised the query."""


class ReaderLost(ReadError):
    """A reader process died without a word, or none can be started."""


class WriteError(SparqlError):
    """An update that was sound but could not be carried out; nothing was changed."""


class JudgingTimeout(WriteError):
    """The shapes did not come to a verdict in time; ``shape`` is the one that was being judged."""

    def __init__(self, timeout_s: float, shape: str = "") -> None:
        named = f"the shape <{shape}>" if shape else "the shapes"
        super().__init__(
            f"Judging this by {named} took longer than {timeout_s:g} s, so it was given up and nothing was "
            "changed. Make the shape's query cheaper, take the shape out (DELETE /shapes/FILE), or let the "
            "operator raise shapes_timeout_s."
        )
        self.timeout_s = timeout_s
        self.shape = shape


class GraphMissing(WriteError):
    """An operation on a named graph that does not exist (SPARQL 1.1 Update, 3.2)."""

    def __init__(self, graph: str) -> None:
        super().__init__(f"There is no graph <{graph}>; create it first, or write SILENT after the keyword.")
        self.graph = graph


class GraphExists(WriteError):
    """CREATE of a graph that exists already (SPARQL 1.1 Update, 3.2.1)."""

    def __init__(self, graph: str) -> None:
        super().__init__(f"Graph <{graph}> exists already; leave CREATE out, or write CREATE SILENT.")
        self.graph = graph


class StripLost(SparqlError):
    """A worker died, or could not be reached, while it related a strip of features."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"A worker did not finish its strip: {reason}. What is finished is kept; run the command "
            "again, with fewer workers if memory was short. The scheduler and the workers of a cluster need "
            "this program installed, in the same version."
        )


class StoreError(SparqlError):
    """The folder of the store cannot be used."""


class StoreLocked(StoreError):
    """Another process holds the store's folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"Another process holds the store in {folder}; stop it, or name another folder.")
        self.folder = folder


class StoreUnreadable(StoreError):
    """The store's files cannot be opened; ``reason`` is what the engine said."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The store in {folder} cannot be opened: {_one_line(reason)}. Check its permissions and the "
            "disk; if the files are damaged, make a new folder from a backup with `urbankg restore`."
        )
        self.folder = folder
        self.reason = reason


class StoreDamaged(StoreError):
    """A file of the open store does not hold what was written to it; ``reason`` is what the engine said."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"A file of the graph is damaged: {_one_line(reason)}. Check the disk, stop the server, and make "
            "a new folder from a backup with `urbankg restore`."
        )
        self.reason = reason


def damage_in(error: BaseException) -> StoreDamaged | None:
    """The engine's own report of a damaged file as one of our errors; None for every other error.

    The engine raises it as a RuntimeError wherever it reads, also in the middle of an answer.
    """
    return StoreDamaged(str(error)) if type(error) is RuntimeError and reports_damage(str(error)) else None


def reports_damage(message: str) -> bool:
    """Whether the engine speaks of a damaged file."""
    return "Corruption:" in message


def _one_line(reason: str) -> str:
    return " ".join(reason.split()).rstrip(".")


class StoreUnwritable(StoreError):
    """The disk did not take what was written; ``reason`` is what the operating system said."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The disk under {folder} does not take writes: {reason}. "
            "Check its space and health, then start the server anew; the last changes may be lost."
        )
        self.folder = folder
        self.reason = reason


class DiskFull(StoreUnwritable):
    """The disk is full: nothing of what was to be written was."""

    def __init__(self, folder: Path, reason: str) -> None:
        SparqlError.__init__(
            self,
            f"The disk under {folder} is full, so nothing of this was written ({reason}). Reads go on; make "
            "room, then send it again: no restart is needed.",
        )
        self.folder = folder
        self.reason = reason


class StoreClosing(StoreError):
    """The server is shutting down: what it took it finishes, and it takes nothing new."""

    def __init__(self) -> None:
        super().__init__("The server is shutting down and takes no more writes; send this again later.")


class BackupError(StoreError):
    """A backup that cannot be made or restored."""


class RemoteError(StoreError):
    """The SPARQL store at another host, which holds the graph, failed; ``url`` is its address."""

    def __init__(self, url: str, message: str) -> None:
        super().__init__(message)
        self.url = url


class RemoteUnreachable(RemoteError):
    """The remote store takes no connection, or lost it before an answer; nothing was changed."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            url, f"The store at {url} cannot be reached: {reason}. Nothing was changed; try again later."
        )


class RemoteRefused(RemoteError):
    """The remote store answered with an error; ``status`` is its HTTP status, ``told`` its own words."""

    def __init__(self, url: str, status: int, told: str) -> None:
        super().__init__(url, f"The store at {url} refused this with status {status}: {told}")
        self.status = status
        self.told = told


class RemoteIncomplete(RemoteError):
    """The remote store cut an answer short, or sent one that is no SPARQL answer."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, f"The answer of the store at {url} cannot be used: {reason}.")
        self.row_limit: int | None = None


class RemoteUndecided(RemoteError):
    """The connection was lost after an update was sent: whether it was applied is not known."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            url,
            f"The connection to the store at {url} was lost after the update was sent ({reason}): it may or "
            "may not have been applied. The server asks the store before the next write; look at the graph "
            "before you send this again.",
        )


class RemoteConflict(RemoteError):
    """The marker in the remote store is not the one that this server left there."""

    def __init__(self, url: str) -> None:
        super().__init__(
            url,
            f"Another server writes to the store at {url}: the marker that this one left there is gone. "
            "Nothing was changed. Let only one server write to a store, then start this one anew.",
        )


class RemoteUnsupported(RemoteError):
    """What was asked cannot be done in a remote store."""

    def __init__(self, url: str, what: str) -> None:
        super().__init__(url, f"The store at {url} cannot take this: {what}.")
