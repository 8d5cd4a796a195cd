"""Polls the files of ontology and shapes: an edit on disk is put in force without a restart.

File events would not replace polling: network folders and some container mounts send none, an edit counts
only once the files stay the same between two polls, and edits that the store refused are tried again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ontology import Schema
from server.errors import UnknownResource
from server.rules.checking import Examined, Folders, Reasoner, reasoned
from server.rules.edits import (
    Candidate,
    DryRun,
    DryRunExceeded,
    DryRuns,
    Edit,
    EditConflict,
    EditRefused,
    EditSuperseded,
    Kind,
    SwitchOutcome,
    check_file_name,
)
from server.rules.rule_folders import (
    UNUSABLE,
    RuleFolders,
    RuleHistory,
    Signature,
    differing,
    files_of,
    read_shapes,
    write_all,
)
from server.rules.ruleset import Ruleset
from shapes.errors import UNEXPECTED
from sparql.model.errors import SparqlError, StoreClosing
from sparql.provenance.term_rewrites import LEAVE, Rewriting

if TYPE_CHECKING:
    from ontology.checks.reporting import CheckReport
    from server.rules.rule_effects import RuleEffects
    from shapes.authoring.impact_results import Impact
    from shapes.gate.gate import ShapesGate
    from shapes.loading import ShapesFiles
    from sparql.writing.derivation import Substitution

_log = logging.getLogger("urbankg.rules")


@dataclass(frozen=True)
class _Prepared:
    """Rules read from the folders at a poll, ready to be put in force."""

    signature: Signature
    candidate: Candidate
    measured: _Measured


@dataclass(frozen=True)
class _Measured:
    """The impact of rules and what they rewrite; both None where nothing needs measuring."""

    impact: Impact | None = None
    rewriting: Rewriting | None = None


class RuleRegistry:
    """The rules in force, and their edits. Its methods block; call them on a thread.

    `editable` is False for the folders of the installed program, which are not written to. `put_in_force` is
    called with new rules, and with what makes the statements that change with them, and returns when they
    apply; `effects` returns what measures and carries out their effects on the graph.
    """

    def __init__(
        self,
        folders: Folders,
        schema: Schema,
        history: RuleHistory,
        dry_runs: DryRuns,
        *,
        editable: dict[Kind, bool],
    ) -> None:
        self.folders = folders
        self._schema = schema
        self._current: Ruleset | None = None
        self.history = history
        self.dry_runs = dry_runs
        self.problem: str | None = None
        self.report: CheckReport | None = None
        self.since = datetime.now(UTC)
        self.put_in_force: Callable[[Ruleset, Callable[[], Substitution]], None] = lambda rules, swap: None
        self.effects: Callable[[], RuleEffects] | None = None
        self.after_switch: Callable[[Ruleset, Ruleset], None] = lambda before, after: None
        """Called after new rules are in force, with the old and the new ones."""
        self._rule_folders = RuleFolders(folders, editable)
        self._lock = threading.Lock()
        self._trying = threading.Lock()
        self._seen: Signature = self._rule_folders.signature(self.schema)
        self._settled: Signature | None = self._seen
        self._prepared: _Prepared | None = None
        self._left: tuple[Ruleset, Impact | None] | None = None
        """Rules in force whose effects are not all carried out yet."""

    def open(self, gate: ShapesGate | None = None) -> Ruleset:
        """Read the shapes, unless a gate is given, and make the rules current.

        Where the files are unusable, the last good shapes are used; raises `UNUSABLE` when there are none.
        """
        if gate is not None:
            self.current = Ruleset(self._schema, gate, self.folders.shapes)
            return self.current
        try:
            opened = read_shapes(self.folders, self._schema, self.history.plan)
        except UNUSABLE as error:
            kept = self._last_good_shapes()
            if kept is None:
                raise
            opened = kept
            self.report_problem(error)
        self.current = Ruleset(self._schema, opened[0], self.folders.shapes, opened[1])
        self.history.keep(self.current)
        return self.current

    def _last_good_shapes(self) -> tuple[ShapesGate, ShapesFiles] | None:
        try:
            return self.history.last_good_shapes(self._schema, self.folders.generate)
        except (*UNUSABLE, OSError, *UNEXPECTED):
            # They were good for an earlier version of the program.
            return None

    @property
    def current(self) -> Ruleset:
        """The rules in force; there are none before `open`."""
        assert self._current is not None, "the shapes are not open yet"
        return self._current

    @current.setter
    def current(self, rules: Ruleset) -> None:
        self._current = rules

    @property
    def schema(self) -> Schema:
        """The ontology in force, from the start on."""
        return self._schema if self._current is None else self._current.schema

    def dry_run(
        self, edit: Edit, asked: Rewriting = LEAVE, wanted: Callable[[], bool] = lambda: True
    ) -> tuple[Candidate, Impact | None]:
        """The rules that an edit would put in force, and their impact; nothing is changed.

        It ends early when it is no longer `wanted`. One at a time: each may cost as much as a query. Raises
        `EditRefused` with the report when the edit is unusable, `InvalidBody`, `DryRunExceeded` when reading
        or measuring takes too long, and `EditSuperseded`.
        """
        with self.dry_runs.of(edit.files) as run, self._trying:
            run.wanted = wanted
            candidate = self._read(self.edited(edit), run)
            return candidate, self._measured(candidate.rules, run, asked).impact

    def edited(self, edit: Edit) -> Folders:
        """The folders with an edit applied to the files. Raises `UnknownResource` for other names."""
        self._rule_folders.check_names(edit)
        return replace(self.folders, ontology_edits=edit.ontology, shapes_edits=edit.shapes)

    def apply(
        self,
        edit: Edit,
        *,
        expected: dict[tuple[Kind, str], str] | None = None,
        asked: Rewriting = LEAVE,
        wanted: Callable[[], bool] = lambda: True,
    ) -> SwitchOutcome:
        """Put an edit in force and write its files; the old rules apply until then.

        It is given up when it is no longer `wanted` before it is in force.

        Statements that use a term which the edit removes or deprecates are rewritten in the same commit where
        it is asked; returning to an earlier version of the ontology takes that back.

        `expected` are digests that files must have, or the edit is based on other content. A running dry run
        of another edit of the same file is canceled. Raises `EditRefused`, `EditConflict`, `EditSuperseded`,
        `DryRunExceeded`, `InvalidBody`, `FolderReadOnly`, `UnknownResource` and errors of the store; then
        nothing has changed.
        """
        expected = expected or {}
        self._rule_folders.check_names(edit)
        self._check_digests(expected)
        self.dry_runs.cancel(edit.files)
        with self.dry_runs.of(edit.files) as run, self._lock:
            run.task.raise_if_cancelled()
            run.wanted = wanted
            self._rule_folders.check_writable(edit)
            self._check_digests(expected)
            candidate = self._read(self.edited(edit), run)
            measured = self._measured(candidate.rules, run, asked)
            with self._written(edit):
                return self._switch(candidate, measured)

    def close(self) -> None:
        """Cancel all dry runs: the server stops."""
        self.dry_runs.close()

    def reload_if_changed(self) -> SwitchOutcome | None:
        """Poll the folders; put edits in force once they are the same at two polls.

        Unusable edits are reported in the log and in `problem`, and the rules in force stay. What the store
        refused is tried again at every poll.
        """
        with self._lock:
            self._finish()
            signature = self._rule_folders.signature(self.schema)
            if signature != self._seen:
                self._seen = signature
                return None
            if signature == self._settled:
                return None
            self._settled = signature
            try:
                if self._prepared is None or self._prepared.signature != signature:
                    self._prepared = self._prepare(signature)
                switched = self._switch(self._prepared.candidate, self._prepared.measured)
                self._prepared = None
                return switched
            except (EditRefused, DryRunExceeded) as error:
                self.report_problem(error)
            except EditSuperseded:
                self._settled = None
            except StoreClosing:
                pass
            except (SparqlError, OSError) as error:
                self._settled = None
                self.report_problem(error)
            return None

    def report_problem(self, error: Exception) -> None:
        """Store and log why the files are not in force; repeated problems are logged once."""
        if self.problem != str(error):
            _log.error(
                "The files of ontology and shapes cannot be used; the last good version stays in force. %s",
                error,
            )
        self.problem = str(error)

    def folder(self, kind: Kind) -> Path:
        """The folder of the files of a kind."""
        return self._rule_folders.folder(kind)

    def files(self, kind: Kind) -> dict[str, tuple[Path, str]]:
        """The files in force, by name, with their digests."""
        return files_of(self.current, kind)

    def content(self, kind: Kind, name: str) -> bytes:
        """A file in force as it was read. Raises `UnknownResource` and `FileNameUnusable`."""
        check_file_name(name)
        rules = self.current
        for file in rules.schema.files if kind is Kind.ONTOLOGY else rules.files.sources:
            if file.path.name == name:
                return file.content
        raise UnknownResource(f"No {kind} file '{name}' is in force; GET /rules lists those that are.")

    def digest(self, kind: Kind, name: str) -> str | None:
        """The digest of a file in force; None if no such file is."""
        return self.files(kind).get(name, (None, None))[1]

    def check(self, edit: Edit, wanted: Callable[[], bool] = lambda: True) -> Examined:
        """What a check finds in the files with an edit applied; nothing is changed. Raises as `dry_run`."""
        with self.dry_runs.of(edit.files) as run:
            run.wanted = wanted
            return self.dry_runs.examine(run, self.edited(edit), self.schema)

    def _read(self, folders: Folders, run: DryRun) -> Candidate:
        found = self.dry_runs.examine(run, folders, self.schema)
        if found.report.blocks:
            raise EditRefused(found.report)
        assert found.schema is not None, "what cannot be used blocks"
        assert found.gate is not None, "what cannot be used blocks"
        return Candidate(Ruleset(found.schema, found.gate, folders.shapes, found.files), found.report)

    def _prepare(self, signature: Signature) -> _Prepared:
        """Read the folders, and make a dry run of them as long as they stay the same."""
        with self.dry_runs.of(frozenset()) as run:
            run.wanted = lambda: self._rule_folders.signature(self.schema) == signature
            candidate = self._read(self.folders, run)
        with self.dry_runs.of(differing(self.current, candidate.rules)) as run:
            run.wanted = lambda: self._rule_folders.signature(self.schema) == signature
            return _Prepared(signature, candidate, self._measured(candidate.rules, run))

    @contextmanager
    def _written(self, edit: Edit) -> Iterator[None]:
        """Write the files of an edit; they are restored when it is not in force after the block."""
        contents = {self.folder(kind) / name: content for kind, name, content in edit.each()}
        former = {path: path.read_bytes() if path.is_file() else None for path in contents}
        before, settled = self.current, self._settled == self._rule_folders.signature(self.schema)
        try:
            write_all(contents, self.history.edit_record)
            yield
        except BaseException:
            if self.current is before:
                write_all(former, self.history.edit_record)
            raise
        finally:
            if settled or self.current is not before:
                self._seen = self._settled = self._rule_folders.signature(self.schema)

    def _switch(self, candidate: Candidate, measured: _Measured) -> SwitchOutcome:
        """Put new rules in force. Raises errors of the store: then nothing changed."""
        before, rules = self.current, candidate.rules
        if before.versions == rules.versions:
            self.problem, self.report = None, candidate.report
            return SwitchOutcome(before, rules, candidate.report, changed=False)
        self._left = rules, measured.impact
        rewritten = 0

        def swap() -> Substitution:
            nonlocal rewritten
            found = self._substitution(before, rules, measured)
            rewritten = found.statements
            return found

        self.put_in_force(rules, swap)
        self.problem, self.report = None, candidate.report
        self.since = datetime.now(UTC)
        _log.info(
            "New rules in force: ontology %s, shapes %s (before: %s, %s)",
            rules.schema.version, rules.gate.version, before.schema.version, before.gate.version,
        )  # fmt: skip
        self._finish()
        self.after_switch(before, rules)
        return SwitchOutcome(before, rules, candidate.report, True, measured.impact, rewritten)

    def _substitution(self, before: Ruleset, rules: Ruleset, measured: _Measured) -> Substitution:
        from sparql.writing.derivation import Substitution

        if self.effects is None or measured.impact is None or measured.rewriting is None:
            return Substitution()
        return self.effects().substitute(before, rules, measured.impact, measured.rewriting)

    def _finish(self) -> None:
        """Carry out the effects of the last switch; a failure is reported in `problem`, and tried again."""
        left, self._left = self._left, None
        if left is None or self.current is not left[0]:
            return
        rules, impact = left
        try:
            self.history.keep(rules)
            if self.effects is not None and impact is not None:
                self.effects().carry_out(rules, impact)
        except (SparqlError, OSError) as error:
            self._left = left
            problem = f"New rules are in force, but not all of their effects could be carried out: {error}"
            if self.problem != problem:
                _log.error("%s It is tried again.", problem)
            self.problem = problem
            return
        self.problem = None

    def reason(self, rules: Ruleset, reasoner: Reasoner, stopped: Callable[[], bool]) -> None:
        """Run a reasoner on the ontology in force, and add its findings to the report. Takes seconds."""
        report = self.report
        if report is None or self.current is not rules:
            return
        found = reasoned(rules.schema, report, reasoner, stopped)
        with self._lock:
            if self.current is not rules or self.report is not report:
                return
            self.report = found
        for one in found.findings:
            if one not in report.findings:
                _log.error("The ontology in force: %s %s %s", one.subject, one.message, one.fix)

    def _measured(self, rules: Ruleset, run: DryRun, asked: Rewriting = LEAVE) -> _Measured:
        """What new rules would change in the graph. Raises `InvalidBody`."""
        if self.effects is None:
            return _Measured()
        effects, before = self.effects(), self.current
        rewriting = effects.rewriting(before, rules, asked)
        if before.versions == rules.versions:
            return _Measured()
        return _Measured(effects.measure(before, rules, run, rewriting), rewriting)

    def _check_digests(self, expected: dict[tuple[Kind, str], str]) -> None:
        for (kind, name), digest in expected.items():
            if self.digest(kind, name) != digest:
                raise EditConflict(name)


async def poll_files(registry: RuleRegistry, every_s: float, is_open: Callable[[], bool]) -> None:
    """Put edits of the files on disk in force, looked for every so many seconds while `is_open`; 0: never.

    File events would not replace polling: network folders and some container mounts send none, an edit
    counts only once the files stay the same between two polls, and edits that the store refused are tried
    again.
    """
    while every_s > 0:
        await asyncio.sleep(every_s)
        try:
            if is_open():
                await asyncio.to_thread(registry.reload_if_changed)
        except OSError as error:
            _log.error("The files of ontology and shapes cannot be read: %s", error)
