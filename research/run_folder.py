"""The folder of a run: what was predicted, how it came about, and what the run was asked to do.

Every sentence is written as soon as it is read, so a run that ended early goes on where it was. The trace of
a sentence comes first: what is among the predictions has its trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from extractors.errors import EvaluationError
from extractors.readers.reading import Cost, Turn, turn_json
from research.text2kgbench.reading import Fact, Identifier


@dataclass(frozen=True)
class Answer:
    """What one sentence yielded; `error` says why it yielded nothing, `stages` what each stage cost."""

    identifier: Identifier
    facts: tuple[Fact, ...]
    stages: Mapping[str, Cost]
    error: str | None = None


class RunFolder:
    """A folder that belongs to one run, told by its settings.

    `predictions.jsonl` is in the benchmark's format; a second sample goes to `predictions.2.jsonl`.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Open or make the folder. Raises `EvaluationError` when it belongs to a run with other settings."""
        self.path = path
        held = path / "run.json"
        try:
            path.mkdir(parents=True, exist_ok=True)
            if held.is_file():
                before = json.loads(held.read_text(encoding="utf-8"))
                other = [name for name in settings if before.get(name) != settings[name]]
                if other:
                    raise EvaluationError(
                        f"{path} holds a run with another {', '.join(other)}. Name another folder, or remove "
                        "this one."
                    )
            elif any(path.glob("predictions*.jsonl")):
                raise EvaluationError(
                    f"{path} holds predictions of another program. Name another folder, or remove this one."
                )
            else:
                _write(held, settings)
        except ValueError as error:
            raise EvaluationError(f"{held} is not JSON ({error}). Remove the folder.") from error
        except OSError as error:
            raise EvaluationError(f"{path} cannot be used: {error.strerror}. Name another folder.") from error

    def answers(self, sample: int) -> dict[Identifier, Answer]:
        """The answers of a sample that are there already; a line that was cut off when a run ended goes."""
        traces = {row["id"]: row for row in _lines(self._file("trace", sample))}
        found: dict[Identifier, Answer] = {}
        for row in _lines(self._file("predictions", sample)):
            trace = traces.get(row["id"])
            if trace is not None:
                facts = tuple(Fact(one["sub"], one["rel"], one["obj"]) for one in row["triples"])
                found[row["id"]] = Answer(row["id"], facts, _stages(trace["stages"]), trace["error"])
        return found

    def add(self, sample: int, answer: Answer, turns: Sequence[Turn]) -> None:
        """Write an answer and its turns."""
        trace = {
            "id": answer.identifier,
            "error": answer.error,
            # Exact: a run that goes on reports what one that was never broken off does.
            "stages": {stage: asdict(cost) for stage, cost in answer.stages.items()},
            "turns": [turn_json(turn) for turn in turns],
        }
        triples = [{"sub": f.subject, "rel": f.relation, "obj": f.object} for f in answer.facts]
        _append(self._file("trace", sample), trace)
        _append(self._file("predictions", sample), {"id": answer.identifier, "triples": triples})

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a JSON file beside the predictions."""
        _write(self.path / name, value)

    def _file(self, kind: str, sample: int) -> Path:
        return self.path / (f"{kind}.jsonl" if sample == 1 else f"{kind}.{sample}.jsonl")


def _stages(told: Mapping[str, Mapping[str, Any]]) -> dict[str, Cost]:
    return {stage: Cost(**cost) for stage, cost in told.items()}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file that a run writes; what is not whole is taken out of it."""
    if not path.is_file():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as stream:
            stream.truncate(whole)
    for number, line in enumerate(content[:whole].split(b"\n"), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise EvaluationError(
                    f"{path}, line {number} is not JSON ({error}). Remove the folder, and run again."
                ) from error


def _append(path: Path, row: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as stream:
        # Escaped, since a model's reply may hold what UTF-8 cannot.
        stream.write(json.dumps(row) + "\n")


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
