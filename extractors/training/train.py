"""Trains, exports, measures and documents the adapter: python -m extractors.training.train --out FOLDER."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, fields
from pathlib import Path

from extractors.models.weights import ADAPTER_PATH
from extractors.training.dataset import Mixture, build, fingerprint, write
from extractors.training.export import export_gguf
from extractors.training.lora import Settings, Tuner
from extractors.training.text2kgbench import read_topics

__all__ = ["main"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for data, safetensors and the record")
    parser.add_argument("--adapter", type=Path, default=ADAPTER_PATH, help="where the GGUF adapter goes")
    parser.add_argument("--text2kgbench", type=Path, help="an unpacked wikidata_tekgen folder")
    parser.add_argument("--city", type=int, default=4000, help="forms over composed passages to make")
    parser.add_argument("--plans", type=int, default=900, help="plans of questions to make")
    parser.add_argument("--repeats", type=int, default=1, help="how often each sentence of a topic comes")
    parser.add_argument("--later", nargs="*", default=[], help="ontologies that the first half leaves out")
    parser.add_argument(
        "--engine", default=sys.executable, help="the Python that has xllamacpp, to measure with"
    )
    for field in fields(Settings):
        kind = type(field.default)
        if kind is bool:
            parser.add_argument(
                f"--{field.name}", action=argparse.BooleanOptionalAction, default=field.default
            )
        else:
            parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    return parser.parse_args()


def main() -> None:
    """Run the whole chain; every later step uses the files of the one before."""
    arguments = _arguments()
    settings = Settings(**{field.name: getattr(arguments, field.name) for field in fields(Settings)})
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    topics = read_topics(arguments.text2kgbench) if arguments.text2kgbench else []
    mixture = Mixture(arguments.city, arguments.plans, arguments.repeats, tuple(arguments.later))
    training = build(mixture, topics, seed=settings.seed, validation=False)
    held_out = build(Mixture(120, 30), topics, seed=settings.seed, validation=True)
    write(training, out / "train.jsonl")
    write(held_out, out / "validation.jsonl")
    print(f"{len(training)} training and {len(held_out)} validation examples", flush=True)
    tuner = Tuner(settings)
    done = tuner.train(training, out / "adapter", note=lambda line: print(line, flush=True))
    tuner.save(out / "adapter")
    done.validation_loss = tuner.validate(held_out[:256])
    record = {
        "device": str(tuner.device),
        "settings": asdict(settings),
        "trained": asdict(done),
        "data": {
            "training": len(training),
            "validation": len(held_out),
            "sources": dict(sorted(Counter(example.source for example in training).items())),
            "training_sha256": fingerprint(training),
            "validation_sha256": fingerprint(held_out),
        },
    }
    (out / "record.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    export_gguf(out / "adapter", out / "adapter" / "base", arguments.adapter)
    print(f"adapter: {arguments.adapter}; validation loss {done.validation_loss:.4f}", flush=True)
    for module in ():
        command = [arguments.engine, "-m", f"extractors.training.{module}", "--out", str(out)]
        subprocess.run([*command, "--adapter", str(arguments.adapter)], check=True)


if __name__ == "__main__":
    main()
