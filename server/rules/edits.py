"""Edits of files of ontology and shapes: what is refused of them, and their dry runs on the graph.

ServerError
├── RulesUnusable       files that no start can read
├── EditRefused         an edit of ontology or shapes that cannot be used
├── EditConflict        an edit of a file that has changed since it was read
├── EditSuperseded      an edit that a later one of the same file replaced
├── DryRunExceeded      an edit whose dry run on the graph takes too much time or memory
├── FolderReadOnly      an edit of the installed program's own files
└── FileNameUnusable    a name that no file can have

A dry run has limits, can be canceled, and has a process of its own, on a checkpoint of the store. A graph
that cannot be given to a process (on another host, or in memory) is read in this process, with a limit on
time but not on memory.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ontology import Schema
from ontology.checks.findings import Level
from server.errors import ServerError
from server.rules.checking import LINTED, Examined, Folders, ended
from server.rules.ruleset import Ruleset
from shapes.time_limit import TimeLimit
from sparql.model.errors import JudgingTimeout, StoreClosing
from sparql.model.triple_store import TripleStore
from sparql.storage.embedded_store import EmbeddedStore

if TYPE_CHECKING:
    from curation.review.review_item import ReviewItem
    from ontology.checks.reporting import CheckReport
    from shapes.authoring.impact_results import ComparedRules, Impact
    from sparql.provenance.term_rewrites import Rewriting
    from sparql.workers.task import Task

Files = frozenset[tuple[str, str]]
"""Files of ontology and shapes, by kind and name."""


class FileNameUnusable(ServerError):
    """A name that no file can have."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"{name[:80]!r} cannot be the name of a file: {reason}. Choose a shorter, plain name."
        )


class RulesUnusable(ServerError):
    """Files of ontology or shapes that cannot be read, for a reason that no reader of them expects."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The files in {folder} cannot be used: {reason.rstrip('.')}. Find the fault: `urbankg check`."
        )


class EditRefused(ServerError):
    """An edit of ontology or shapes that contradicts itself or cannot be read; `report` says where."""

    def __init__(self, report: CheckReport) -> None:
        self.report = report
        errors = [one for one in report.findings if one.level is Level.ERROR]
        sentences = []
        for one in errors[:3]:
            place = "" if one.file is None else f"{one.file}:{one.line}: " if one.line else f"{one.file}: "
            subject = f"<{one.subject}> " if one.subject else ""
            sentences.append(f"{place}{subject}{one.message} {one.fix}")
        more = f" And {len(errors) - 3} more." if len(errors) > 3 else ""
        super().__init__(" ".join(sentences) + more)


class EditConflict(ServerError):
    """A file is not what the client's If-Match says."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' has changed since you read it. Read it again and edit that.")


class DryRunExceeded(ServerError):
    """Reading edited rules, or trying them on the graph, takes more time or memory than it may."""

    def __init__(self, limit: str, setting: str, *, reading: bool = False) -> None:
        step = "Reading this edit" if reading else "Trying this edit on the graph"
        advice = (
            "Make its files smaller or simpler"
            if reading
            else f"Make the queries of its shapes cheaper, or let the operator raise {setting}"
        )
        super().__init__(
            f"{step} took more than {limit}, so it was given up: the rules stay as they were. {advice}."
        )


class EditSuperseded(ServerError):
    """An edit that was given up because a later one of the same file came."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"A later edit of {', '.join(names)} came before this one was in force, so this one was given up."
        )


class FolderReadOnly(ServerError):
    """The files belong to the installed program."""

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"The {kind} in force is the one the program ships, which is not edited in place. Copy its files "
            f"to a folder of your own and start the server with --{kind} FOLDER."
        )


class Kind(StrEnum):
    """Which of the two folders a file is in."""

    ONTOLOGY = "ontology"
    SHAPES = "shapes"


# File systems allow 255, and a file is first written under a longer temporary name.
_LONGEST_NAME_BYTES = 200


@dataclass(frozen=True)
class Edit:
    """Files by name with their new content; None deletes a file."""

    ontology: dict[str, bytes | None]
    shapes: dict[str, bytes | None]

    def __post_init__(self) -> None:
        """Raises `FileNameUnusable`."""
        for name in (*self.ontology, *self.shapes):
            check_file_name(name)

    @classmethod
    def of(cls, kind: Kind, name: str, content: bytes | None) -> Edit:
        """An edit of one file."""
        one = {name: content}
        return cls(one, {}) if kind is Kind.ONTOLOGY else cls({}, one)

    @property
    def files(self) -> Files:
        """The files that it changes."""
        return frozenset((kind.value, name) for kind, name, _ in self.each())

    def each(self) -> Iterator[tuple[Kind, str, bytes | None]]:
        """Kind, name and new content of each file."""
        for kind, files in ((Kind.ONTOLOGY, self.ontology), (Kind.SHAPES, self.shapes)):
            for name, content in files.items():
                yield kind, name, content


@dataclass(frozen=True)
class Candidate:
    """Rules that could be put in force, with the report of their check."""

    rules: Ruleset
    report: CheckReport


@dataclass(frozen=True)
class SwitchOutcome:
    """The outcome of an edit; `changed` is False where the rules are the same as before."""

    before: Ruleset
    rules: Ruleset
    report: CheckReport
    changed: bool
    impact: Impact | None = None
    """The changes in the graph; None where nothing was changed."""
    rewritten: int = 0
    """How many statements use other terms since."""


def check_file_name(name: str) -> None:
    """Raises `FileNameUnusable` for names that no file system accepts."""
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME_BYTES:
        raise FileNameUnusable(name, f"it is longer than {_LONGEST_NAME_BYTES} bytes")
    # U+FFFD replaces bytes of the URL that are not UTF-8.
    if not name.isprintable() or "\ufffd" in name:
        raise FileNameUnusable(name, "it holds a character that cannot be shown")


READING_S: Final = 60.0
"""How long reading and checking the files of an edit may take: 5,000 shapes take some seconds."""


class DryRun:
    """The dry run of one edit; may be canceled from any thread."""

    def __init__(self, files: Files, task: Task) -> None:
        self.files = files
        self.task = task
        self.wanted: Callable[[], bool] = lambda: True
        """Polled while it runs; it stops when this returns False."""


class DryRuns:
    """All running dry runs. Each may take as long as one judgment."""

    def __init__(self, limit: TimeLimit, memory_limit_bytes: int) -> None:
        self._limit = limit
        self._memory_limit_bytes = memory_limit_bytes
        self._lock = threading.Lock()
        self._under_way: list[DryRun] = []
        self._closed = False

    @contextmanager
    def of(self, files: Files) -> Iterator[DryRun]:
        """The dry run of an edit of these files, which may be canceled while the block runs."""
        from sparql.workers.task import Task

        run = DryRun(files, Task(self._memory_limit_bytes))
        with self._lock:
            if self._closed:
                raise StoreClosing
            self._under_way.append(run)
        try:
            yield run
        finally:
            with self._lock:
                self._under_way.remove(run)

    @property
    def pids(self) -> list[int]:
        """The processes of the dry runs."""
        with self._lock:
            found = [run.task.pid for run in self._under_way]
        return [pid for pid in found if pid is not None]

    def cancel(self, files: Files) -> None:
        """Cancel all dry runs of edits of any of these files; they raise `EditSuperseded`."""
        with self._lock:
            for run in self._under_way:
                if run.files & files:
                    run.task.cancel(EditSuperseded(sorted(name for _, name in run.files & files)))

    def close(self) -> None:
        """Cancel all dry runs, and refuse new ones: the server stops."""
        with self._lock:
            self._closed = True
            for run in self._under_way:
                run.task.cancel(StoreClosing())

    def examine(self, run: DryRun, folders: Folders, known: Schema) -> Examined:
        """What a check finds in the files of edited rules, and the rules themselves.

        Raises `DryRunExceeded`, `EditSuperseded` and `StoreClosing` as `measure` does, and `ReaderLost`.
        """
        from server.rules.check_process import examine_apart
        from sparql.workers.task import TaskFailed, TaskMemoryExceeded, TaskTimeout

        # The graphs of shapes are reference cycles of 4 MB each: collect those of earlier edits now.
        gc.collect()
        try:
            given = (folders, known, LINTED.get(known))
            found = list(run.task.run(examine_apart, *given, timeout_s=READING_S, wanted=run.wanted))
        except TaskTimeout as error:
            raise DryRunExceeded(f"{READING_S:g} s", "", reading=True) from error
        except TaskMemoryExceeded as error:
            raise DryRunExceeded(self._memory, "query_memory_mb", reading=True) from error
        except TaskFailed as error:
            return Examined(ended(str(error)))
        if not found or not run.wanted():
            raise EditSuperseded(sorted(name for _, name in run.files))
        ((examined, linted),) = found
        if examined.schema is None and not examined.report.blocks:
            examined = replace(examined, schema=known)
        if examined.schema is not None and linted is not None:
            LINTED[examined.schema] = linted
        return examined

    @property
    def _seconds(self) -> str:
        return f"{self._limit.seconds:g} s"

    @property
    def _memory(self) -> str:
        return f"{self._memory_limit_bytes // 2**20} MB of memory"

    def measure(
        self,
        run: DryRun,
        store: TripleStore,
        before: Ruleset,
        after: Ruleset,
        queue: list[ReviewItem],
        rewriting: Rewriting,
    ) -> Impact:
        """What new rules would change in the graph, with what they rewrite.

        Where the comparison with the rules in force takes too long, the impact says so. Raises
        `DryRunExceeded` where the new rules take too long, `EditSuperseded` and `StoreClosing` when canceled,
        and `ReaderLost`.
        """
        from sparql.workers.task import TaskMemoryExceeded, TaskTimeout

        found: Impact | None = None
        try:
            for step in self._steps(run, store, before.compared, after.compared, queue, rewriting):
                found = step
        except (TaskTimeout, JudgingTimeout) as error:
            if found is None:
                raise DryRunExceeded(self._seconds, "shapes_timeout_s") from error
        except TaskMemoryExceeded as error:
            if found is None:
                raise DryRunExceeded(self._memory, "query_memory_mb") from error
        if found is None or not run.wanted():
            raise EditSuperseded(sorted(name for _, name in run.files))
        return found

    def _steps(
        self,
        run: DryRun,
        store: TripleStore,
        before: ComparedRules,
        after: ComparedRules,
        queue: list[ReviewItem],
        rewriting: Rewriting,
    ) -> Iterator[Impact]:
        from shapes.authoring.impact import impact_in_steps
        from shapes.authoring.impact_results import BOUNDS

        if not isinstance(store, EmbeddedStore) or store.folder is None:
            run.task.raise_if_cancelled()
            with self._limit.running():
                yield from impact_in_steps(store, before, after, queue, BOUNDS, rewriting)
            return
        from shapes.authoring.impact import comparison, dry_run

        parts = comparison(before, after, queue, rewriting)
        checkpoint = store.acquire()
        try:
            arguments = (str(checkpoint.path), parts.before, parts.after, parts.queue, BOUNDS, rewriting)
            steps = run.task.run(dry_run, *arguments, timeout_s=self._limit.seconds, wanted=run.wanted)
            yield from parts.whole(steps)
        finally:
            store.release(checkpoint)
