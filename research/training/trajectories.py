"""The instruction set from a teacher's trajectories: both tasks mixed, in three sets that share nothing.

UrbanKGent, sections 4.4 and 5.1. A trajectory is what the pipeline did with one text, or with one
pair of places; each of its turns that ended in a usable reply is one instruction. Trajectories of pairs are
kept only where the answer is what the geometries say, which is more than the paper asks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from extractors.completion.completer import Completion
from extractors.completion.pair import Pair
from extractors.errors import TrainingDataError
from extractors.models.chat import Message
from extractors.readers.reading import Reading, Turn

Task = Literal["RTE", "KGC"]
_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True)
class Instruction:
    """A dialog that ends with the answer to learn."""

    task: Task
    stage: str
    messages: tuple[Message, ...]

    @property
    def turn(self) -> str:
        """What the answer is for: the task and the stage in it."""
        return f"{self.task} {self.stage}".strip()

    def as_json(self) -> str:
        """One line in the format that instruction tuning takes elsewhere too."""
        turns = [{"role": message.role, "content": message.content} for message in self.messages]
        return json.dumps({"task": self.task, "stage": self.stage, "messages": turns}, ensure_ascii=False)


@dataclass(frozen=True)
class Trajectory:
    """The instructions from one text or pair; `about` is a hash of it, by which sets are kept apart."""

    task: Task
    about: str
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True)
class Sets:
    """What is learned from, what is measured on, and what a large graph is built from."""

    instruct: tuple[Trajectory, ...]
    test: tuple[Trajectory, ...]
    large: tuple[Trajectory, ...]


def of_text(text: str, reading: Reading) -> Trajectory | None:
    """The trajectory of a text; None where the reading failed."""
    if reading.failure is not None:
        return None
    return _trajectory("RTE", " ".join(text.split()), reading.turns)


def of_pair(pair: Pair, completion: Completion) -> Trajectory | None:
    """The trajectory of a pair; None without an answer, or where the geometries say otherwise."""
    if completion.relation is None or pair.computed not in (None, completion.relation):
        return None
    places = (pair.head, pair.tail)
    about = "|".join(f"{place.name};{place.geometry.wkt if place.geometry else ''}" for place in places)
    return _trajectory("KGC", about, completion.turns)


def _trajectory(task: Task, about: str, turns: Sequence[Turn]) -> Trajectory | None:
    instructions = tuple(
        Instruction(task, turn.stage, (*turn.messages, Message("assistant", turn.reply.text)))
        for turn in turns
        if turn.reply is not None and turn.error is None and turn.messages
    )
    digest = hashlib.sha256(f"{task}:{about}".encode()).hexdigest()[:16]
    return Trajectory(task, digest, instructions) if instructions else None


def divide(
    trajectories: Iterable[Trajectory], *, instruct: int, test: int, large: int, seed: int = 7
) -> Sets:
    """Draw the three sets uniformly, half of each from either task as far as there are so many.

    Trajectories about the same text or pair count once. Raises `TrainingDataError` where there are none.
    """
    known = list({one.about: one for one in trajectories}.values())
    if not known:
        raise TrainingDataError("No trajectory can be used: look into the run's trace for what went wrong.")
    random = Random(seed)
    by_task = {task: [one for one in known if one.task == task] for task in ("RTE", "KGC")}
    for found in by_task.values():
        found.sort(key=lambda one: one.about)
        random.shuffle(found)
    drawn = [tuple(_draw(by_task, size)) for size in (instruct, test, large)]
    return Sets(*drawn)


def _draw(waiting: dict[str, list[Trajectory]], size: int) -> Iterator[Trajectory]:
    """Take one of either task in turn until there are enough or none is left."""
    taken = 0
    while taken < size and any(waiting.values()):
        for found in waiting.values():
            if found and taken < size:
                taken += 1
                yield found.pop()


def write_instructions(trajectories: Sequence[Trajectory], path: Path) -> int:
    """Write the instructions as JSON lines; returns how many there are."""
    lines = [one.as_json() for trajectory in trajectories for one in trajectory.instructions]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return len(lines)


def read_instructions(path: Path) -> list[Instruction]:
    """Read JSON lines with "messages" that end with the assistant's. Raises `TrainingDataError`."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            found.append(_instruction(f"{path}, line {number}", line))
    return found


def _instruction(place: str, line: str) -> Instruction:
    try:
        value: Any = json.loads(line)
        messages = tuple(Message(one["role"], str(one["content"])) for one in value["messages"])
    except (ValueError, KeyError, TypeError) as error:
        raise TrainingDataError(
            f'{place}: an instruction has "messages", each with "role" and "content" ({error!r}).'
        ) from error
    if len(messages) < 2 or messages[-1].role != "assistant" or {m.role for m in messages} - set(_ROLES):
        raise TrainingDataError(
            f"{place}: the messages must be of system, user and assistant, and the last is the assistant's."
        )
    return Instruction(value.get("task", "RTE"), str(value.get("stage", "")), messages)
