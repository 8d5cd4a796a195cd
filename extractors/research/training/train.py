"""One training run from data to adapter: build, train, export, measure, document.

Needs PyTorch, transformers and peft (the extra `research`); a GPU is used where there is one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from extractors.models.local.weights import ADAPTER_PATH
from extractors.research.training.card import write_card
from extractors.research.training.dataset import Mixture, build, fingerprint, write
from extractors.research.training.evaluate import measure_run
from extractors.research.training.export import export_gguf
from extractors.research.training.fewrel import read_fewrel
from extractors.research.training.lora import Settings, Tuner
from extractors.research.training.text2kgbench import read_topics
from extractors.research.training.trajectories import read_instructions

__all__ = ["Run", "train"]

_VALIDATION = Mixture(city=400, plans=30)


@dataclass(frozen=True)
class Run:
    """What a run is made of; `out` takes data, safetensors and records, `adapter` is the GGUF file to write.

    `text2kgbench` are unpacked `wikidata_tekgen` and `dbpedia_webnlg` folders, `fewrel` is FewRel's file,
    `instructions` are files of a teacher's trajectories. `start` is the folder of a run to go on from; its
    record is kept in this one's. `processes` make the examples. `measure`: also fill in the held-out forms
    with the engine, which takes minutes of a processor.
    """

    out: Path
    adapter: Path = ADAPTER_PATH
    settings: Settings = field(default_factory=Settings)
    mixture: Mixture = field(default_factory=Mixture)
    text2kgbench: tuple[Path, ...] = ()
    fewrel: Path | None = None
    instructions: tuple[Path, ...] = ()
    start: Path | None = None
    processes: int = 1
    measure: bool = True


def train(run: Run, tell: Callable[[str], None]) -> None:
    """Make the adapter, its calibration and its card; every step's file stays in the run's folder."""
    run.out.mkdir(parents=True, exist_ok=True)
    topics = [topic for folder in run.text2kgbench for topic in read_topics(folder)]
    if run.fewrel is not None:
        topics.append(read_fewrel(run.fewrel))
    taught = [one for path in run.instructions for one in read_instructions(path)]
    seed = run.settings.seed
    training = build(run.mixture, topics, taught, seed=seed, validation=False, processes=run.processes)
    held_out = build(_VALIDATION, topics, seed=seed, validation=True)
    write(training, run.out / "train.jsonl")
    write(held_out, run.out / "validation.jsonl")
    tell(f"{len(training)} training and {len(held_out)} validation examples")
    before = json.loads((run.start / "record.json").read_text(encoding="utf-8")) if run.start else None
    tuner = Tuner(run.settings, run.start / "adapter" if run.start else None)
    done = tuner.train(training, run.out / "adapter", note=tell)
    tuner.save(run.out / "adapter")
    done.validation_loss = tuner.validate(held_out[:256])
    record = {
        "before": before,
        "device": str(tuner.device),
        "settings": asdict(run.settings),
        "mixture": asdict(run.mixture),
        "trained": asdict(done),
        "data": {
            "training": len(training),
            "validation": len(held_out),
            "sources": dict(sorted(Counter(example.source for example in training).items())),
            "training_sha256": fingerprint(training),
            "validation_sha256": fingerprint(held_out),
        },
    }
    (run.out / "record.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    export_gguf(run.out / "adapter", run.out / "adapter" / "base", run.adapter)
    tell(f"adapter: {run.adapter}; validation loss {done.validation_loss:.4f}")
    if run.measure:
        measure_run(run.out, run.adapter)
    tell(f"card: {write_card(run.out, run.adapter)}")
