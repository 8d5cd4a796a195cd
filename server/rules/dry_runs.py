"""Dry runs of edited rules on the graph before they are put in force, with limits and cancellation.

A dry run has a process of its own, on a checkpoint of the store. A graph that cannot be given to a process
(on another host, or in memory) is read in this process, with a limit on time but not on memory.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ontology import Schema
from server.rules.checking import LINTED, Examined, Folders, ended
from server.rules.edit_errors import DryRunExceeded, EditSuperseded
from server.rules.ruleset import Ruleset
from shapes.time_limit import TimeLimit
from sparql.model.errors import JudgingTimeout, StoreClosing
from sparql.model.triple_store import TripleStore
from sparql.storage.embedded_store import EmbeddedStore

if TYPE_CHECKING:
    from curation.review.review_item import ReviewItem
    from shapes.authoring.impact_results import ComparedRules, Impact
    from sparql.provenance.term_rewrites import Rewriting
    from sparql.workers.task import Task

READING_S: Final = 60.0
"""How long reading and checking the files of an edit may take: 5,000 shapes take some seconds."""
Files = frozenset[tuple[str, str]]
"""Files of ontology and shapes, by kind and name."""


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
