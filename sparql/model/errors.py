"""What can go wrong between a SPARQL request and its answer.

::

    SparqlError
    ├── RequestError                 the request itself
    │   ├── MalformedRequest         parameters missing, doubled, unreadable
    │   ├── SyntaxProblem            the SPARQL text does not parse (line, column)
    │   ├── UnknownFunction          the query calls a function that does not exist
    │   ├── NotAcceptable            no format the client accepts
    │   │   └── TripleTermUnwritable the answer holds a triple term, and the format cannot
    │   ├── UnsupportedMediaType     a body of a type we do not read
    │   ├── RemoteAccessRefused      SERVICE or LOAD
    │   ├── FetchRefused             an address that SERVICE or LOAD may not reach
    │   ├── PayloadProblem           an RDF body does not parse (line, column)
    │   ├── GraphUnknown             the requested graph does not exist
    │   ├── PreconditionFailed       If-Match or If-None-Match does not hold
    │   ├── ChangesForgotten         changes older than the log keeps
    │   ├── ProtectedGraph           a write into a graph of the system
    │   ├── ProtectedTriple          a removal of a triple that the system keeps
    │   ├── InferenceTooLarge        more follows from a change than is inferred with it
    │   ├── UnusableRule             what a rule of the shapes concludes cannot be worked out
    │   │   ├── RuleUnsettled        it asks for the absence of what follows from it
    │   │   └── RuleWithoutEnd       it makes new values without end
    │   ├── RelationTooInvolved      two geometries cross too often to be related
    │   └── RelatingTooInvolved      a change that relates too many geometries
    ├── ReadError                    a valid query that could not be finished
    │   ├── QueryTimeout             stopped at its deadline
    │   ├── QueryMemoryExceeded      stopped at its memory limit
    │   ├── TooManyQueries           the queue is full
    │   ├── QueryFailed              the engine failed while evaluating
    │   └── ReaderLost               a worker process died or cannot start
    ├── WriteError                   a valid update that could not be carried out
    │   ├── JudgingTimeout           validation by the shapes took too long
    │   ├── GraphMissing             CLEAR, DROP, COPY ... of a graph that does not exist
    │   └── GraphExists              CREATE of a graph that exists
    ├── TileLost                     a worker did not finish its tile of a bulk relation run
    ├── FetchFailed                  another host did not answer SERVICE or LOAD
    └── StoreError                   the folder of the store, or the store at another host: `store_errors`

Each message says what the client, or the operator, can do about it. Problem type URIs are made from the names
of these classes, which are therefore public.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


class SparqlError(Exception):
    """Base of these errors; ``str(error)`` is a sentence for the client."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses take other arguments than the message, so unpickling must not call the class.
        return _copied, (type(self), self.args, self.__dict__)


def _copied(kind: type[SparqlError], args: tuple[Any, ...], members: dict[str, Any]) -> SparqlError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


class RequestError(SparqlError):
    """The request cannot be served as sent; sending it again changes nothing."""


class MalformedRequest(RequestError):
    """A parameter is missing, doubled or unreadable (SPARQL 1.1 Protocol, 2.1 and 2.2)."""


class SyntaxProblem(RequestError):
    """The SPARQL text does not parse.

    ``line`` and ``column`` count from one, in characters, and are None where the engine gives no position.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class UnknownFunction(RequestError):
    """The query calls an unknown function; `like` are the IRIs of functions with a similar name."""

    def __init__(self, iri: str, like: Sequence[str]) -> None:
        meant = f" Perhaps <{'> or <'.join(like)}> is meant." if like else ""
        super().__init__(
            f"There is no function <{iri}> here.{meant} The service description (GET of the endpoint without "
            "a query) lists all functions."
        )
        self.like = tuple(like)


class NotAcceptable(RequestError):
    """The client accepts none of the media types that can be produced; ``offered`` lists these."""

    def __init__(self, accept: str, offered: Sequence[str]) -> None:
        super().__init__(
            f"Nothing in Accept '{accept}' can be produced; ask for one of {', '.join(offered)}."
        )
        self.offered = tuple(offered)


class TripleTermUnwritable(NotAcceptable):
    """The answer holds a triple term (RDF 1.2 Concepts, 3.1), and the format cannot."""

    def __init__(self, media_type: str, offered: Sequence[str]) -> None:
        RequestError.__init__(
            self,
            f"The answer holds a triple term (RDF 1.2), which {media_type} cannot; ask for one of "
            f"{', '.join(offered)}.",
        )
        self.offered = tuple(offered)


class UnsupportedMediaType(RequestError):
    """A request body of an unsupported type; ``supported`` lists the supported ones."""

    def __init__(self, found: str | None, supported: Sequence[str]) -> None:
        what = f"a body of type '{found}'" if found else "a body without Content-Type"
        super().__init__(f"The endpoint cannot read {what}; send {' or '.join(supported)}, in UTF-8.")
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
    """Another host did not answer SERVICE or LOAD."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"<{url}> could not be used: {reason}. Try again later, or write SILENT to continue without it."
        )
        self.url = url


class PayloadProblem(SyntaxProblem):
    """An RDF body does not parse; nothing of it was stored."""


class GraphUnknown(RequestError):
    """The requested named graph does not exist."""

    def __init__(self, graph: str) -> None:
        super().__init__(f"There is no graph <{graph}> here; PUT or POST to this address creates it.")
        self.graph = graph


class PreconditionFailed(RequestError):
    """If-Match or If-None-Match does not hold (RFC 9110, 13.1); nothing was changed."""


class ChangesForgotten(RequestError):
    """The log no longer holds the changes after ``asked``; ``oldest`` is the first that it can start from."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(
            f"The changes after revision {asked} are no longer kept; read the graph itself, then ask for "
            f"the changes after its revision (at least {oldest})."
        )
        self.asked = asked
        self.oldest = oldest


class ProtectedGraph(RequestError):
    """A write into a system graph, which only the system writes."""

    def __init__(self, graph: object) -> None:
        super().__init__(
            f"Graph {graph} is kept by the system and is read-only; "
            "write to the default graph or to a named graph of your own."
        )
        self.graph = graph


class ProtectedTriple(RequestError):
    """The removal of a triple that the system keeps, with the graph that records it."""

    def __init__(self, triple: object, graph: object) -> None:
        super().__init__(
            f"The triple {triple} cannot be removed: the system keeps it (graph {graph}); "
            "change the statements it follows from instead."
        )
        self.triple = triple
        self.graph = graph


class InferenceTooLarge(RequestError):
    """More follows from a change, by the axioms of the ontology, than is inferred with a change."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"More than {limit} conclusions would have to be drawn from this change, so it was not made. "
            "Send it in parts, load it with urbankg load --bulk, or let the operator raise inference_max."
        )
        self.limit = limit


class UnusableRule(RequestError):
    """What a rule (`sh:rule`) concludes cannot be worked out."""

    def __init__(self, rule: str, why: str) -> None:
        super().__init__(f"The rule <{rule}> {why}")
        self.rule = rule


class RuleUnsettled(UnusableRule):
    """A rule asks for the absence of what follows later, from itself or another rule."""

    def __init__(self, rule: str) -> None:
        super().__init__(
            rule,
            "no longer concludes what it concluded, since more was concluded afterwards. Let no rule depend "
            "on the absence of what follows from it, and give it a higher sh:order than the rules that it "
            "waits for.",
        )


class RuleWithoutEnd(UnusableRule):
    """A rule makes values from values that it made, again and again."""

    def __init__(self, rule: str, generations: int) -> None:
        super().__init__(
            rule,
            f"made new nodes or literals from new ones {generations} times in a row, so it would never end. "
            "Give it a condition that no longer holds for what it makes.",
        )


class RelationTooInvolved(RequestError):
    """Two geometries cross so often that relating them would keep all other writers waiting."""

    def __init__(self, feature: object, other: object, limit: int) -> None:
        super().__init__(
            f"The edges of the geometries of {feature} and {other} cross more than {limit:,} times, too "
            "often for their relation to be computed while others wait to write, so nothing was changed. "
            "Simplify one of them."
        )


class RelatingTooInvolved(RequestError):
    """A change of geometries whose relations take too long, or are too many, while other writers wait."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The relations of the geometries that this change adds or removes {reason}, so nothing was "
            "changed. Make it in several smaller changes, or load the geometries in bulk."
        )


class ReadError(SparqlError):
    """A valid query that could not be finished."""


class QueryTimeout(ReadError):
    """The query ran past its deadline of ``timeout_s`` seconds and was stopped."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(
            f"The query ran past its limit of {timeout_s:g} s and was stopped; "
            "narrow it, add a LIMIT, or raise the timeout parameter."
        )
        self.timeout_s = timeout_s


class QueryMemoryExceeded(ReadError):
    """The query needed more memory than a worker may use and was stopped."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(
            f"The query needed more than {limit_bytes // 2**20} MiB and was stopped; "
            "sort, group or join fewer rows at a time."
        )
        self.limit_bytes = limit_bytes


class TooManyQueries(ReadError):
    """No worker became free; try again after ``retry_after_s`` seconds."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"All readers are busy and the queue is full; try again in {retry_after_s:g} s.")
        self.retry_after_s = retry_after_s


class QueryFailed(ReadError):
    """The engine failed while it evaluated or serialized the query."""


class ReaderLost(ReadError):
    """A worker process died unexpectedly, or none can be started."""


class WriteError(SparqlError):
    """A valid update that could not be carried out; nothing was changed."""


class JudgingTimeout(WriteError):
    """Validation by the shapes did not finish in time; ``shape`` is the one being evaluated."""

    def __init__(self, timeout_s: float, shape: str = "") -> None:
        named = f"the shape <{shape}>" if shape else "the shapes"
        super().__init__(
            f"Judging this by {named} took longer than {timeout_s:g} s, so it was stopped and nothing was "
            "changed. If very much depends on the change, load it by `urbankg load --bulk`, which judges "
            "the whole graph afterwards. Else make the shape's query cheaper, remove the shape "
            "(DELETE /shapes/FILE), or let the operator raise shapes_timeout_s."
        )
        self.timeout_s = timeout_s
        self.shape = shape
        self.kept: str | None = None
        """The identifier under which what was to be judged is kept, to be tried again."""

    def with_kept(self, identifier: str) -> JudgingTimeout:
        """The same error for an extraction whose candidates are kept, as those of a dry run."""
        self.kept = identifier
        hint = f' What was read is kept: send {{"dry_run": "{identifier}"}} to /extractions to try again.'
        self.args = (f"{self}{hint}",)
        return self


class GraphMissing(WriteError):
    """An operation on a named graph that does not exist (SPARQL 1.1 Update, 3.2)."""

    def __init__(self, graph: str) -> None:
        super().__init__(f"There is no graph <{graph}>; create it first, or write SILENT after the keyword.")
        self.graph = graph


class GraphExists(WriteError):
    """CREATE of a graph that already exists (SPARQL 1.1 Update, 3.2.1)."""

    def __init__(self, graph: str) -> None:
        super().__init__(f"Graph <{graph}> exists already; leave CREATE out, or write CREATE SILENT.")
        self.graph = graph


class TileLost(SparqlError):
    """A worker died, or could not be reached, while it related a tile of features."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"A worker did not finish its tile: {reason}. Finished tiles are kept; run the command "
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
    """The store's files cannot be opened; ``reason`` is the engine's message."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The store in {folder} cannot be opened: {_one_line(reason)}. Check its permissions and the "
            "disk; if the files are damaged, make a new folder from a backup with `urbankg restore`."
        )
        self.folder = folder
        self.reason = reason


class FormatUnknown(StoreError):
    """A data folder of a format that this version does not read."""

    def __init__(self, folder: Path, found: str, known: int) -> None:
        super().__init__(
            f"The data in {folder} have format {found[:20] or 'none'}; this version reads format {known}. "
            "Use the version that wrote them; or with that one `urbankg dump FILE.nq --data "
            f"{folder}`, and with this one `urbankg load FILE.nq` into a new folder."
        )


class StoreDamaged(StoreError):
    """A file of the open store does not hold what was written to it; ``reason`` is the engine's message."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"A file of the graph is damaged: {_one_line(reason)}. Check the disk, stop the server, and make "
            "a new folder from a backup with `urbankg restore`."
        )
        self.reason = reason


def damage_in(error: BaseException) -> StoreDamaged | None:
    """The engine's report of a damaged file as one of our errors; None for any other error.

    The engine raises a RuntimeError wherever it reads, also in the middle of an answer.
    """
    return StoreDamaged(str(error)) if type(error) is RuntimeError and reports_damage(str(error)) else None


def reports_damage(message: str) -> bool:
    """Whether the engine's message reports a damaged file."""
    return "Corruption:" in message


def _one_line(reason: str) -> str:
    return " ".join(reason.split()).rstrip(".")


class StoreUnwritable(StoreError):
    """The disk refused a write; ``reason`` is the operating system's message."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The disk under {folder} does not accept writes: {reason}. "
            "Check its space and health, then restart the server; the last changes may be lost."
        )
        self.folder = folder
        self.reason = reason


class DiskFull(StoreUnwritable):
    """The disk is full: nothing was written."""

    def __init__(self, folder: Path, reason: str) -> None:
        SparqlError.__init__(
            self,
            f"The disk under {folder} is full, so nothing of this was written ({reason}). Reads continue. "
            "Free some space, then send it again: no restart is needed.",
        )
        self.folder = folder
        self.reason = reason


class StoreClosing(StoreError):
    """The server is shutting down: it finishes accepted writes and accepts no new ones."""

    def __init__(self) -> None:
        super().__init__("The server is shutting down and accepts no more writes; send this again later.")


class BackupError(StoreError):
    """A backup cannot be made or restored."""


class RemoteError(StoreError):
    """The SPARQL store at another host that holds the graph failed; ``url`` is its address."""

    def __init__(self, url: str, message: str) -> None:
        super().__init__(message)
        self.url = url


class RemoteUnreachable(RemoteError):
    """The remote store accepts no connection, or lost it before an answer; nothing was changed."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            url, f"The store at {url} cannot be reached: {reason}. Nothing was changed; try again later."
        )


class RemoteRefused(RemoteError):
    """The remote store answered with an error; ``status`` is its HTTP status, ``reply`` its message."""

    def __init__(self, url: str, status: int, reply: str) -> None:
        super().__init__(url, f"The store at {url} refused this with status {status}: {reply}")
        self.status = status
        self.reply = reply


class RemoteIncomplete(RemoteError):
    """The remote store cut an answer short, or sent something that is no SPARQL answer."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, f"The answer of the store at {url} cannot be used: {reason}.")
        self.row_limit: int | None = None


class RemoteUndecided(RemoteError):
    """The connection was lost after an update was sent: whether it was applied is unknown."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            url,
            f"The connection to the store at {url} was lost after the update was sent ({reason}): it may or "
            "may not have been applied. The server asks the store before the next write; look at the graph "
            "before you send this again.",
        )


class RemoteConflict(RemoteError):
    """The marker in the remote store is not the one that this server wrote."""

    def __init__(self, url: str) -> None:
        super().__init__(
            url,
            f"Another server writes to the store at {url}: the marker that this one wrote is gone. "
            "Nothing was changed. Let only one server write to a store, then restart this one.",
        )


class RemoteUnsupported(RemoteError):
    """The remote store does not support this request."""

    def __init__(self, url: str, what: str) -> None:
        super().__init__(url, f"The store at {url} does not support {what}.")
