"""Trains, exports, measures and documents the adapter: python -m extractors.training.train --out FOLDER."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path

from extractors.models.weights import ADAPTER_PATH
from extractors.training.dataset import build, fingerprint, write
from extractors.training.export import export_gguf
from extractors.training.lora import Settings, Tuner

__all__ = ["main"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for data, safetensors and the record")
    parser.add_argument("--adapter", type=Path, default=ADAPTER_PATH, help="where the GGUF adapter goes")
    parser.add_argument("--validation", type=int, default=300, help="held-out examples to make")
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
    training = build(settings.examples, seed=settings.seed, validation=False)
    held_out = build(arguments.validation, seed=settings.seed, validation=True)
    write(training, out / "train.jsonl")
    write(held_out, out / "validation.jsonl")
    print(f"{len(training)} training and {len(held_out)} validation examples", flush=True)
    tuner = Tuner(settings)
    done = tuner.train(training, out / "adapter", note=lambda line: print(line, flush=True))
    done.validation_loss = tuner.validate(held_out[:128])
    tuner.save(out / "adapter")
    record = {
        "device": str(tuner.device),
        "settings": asdict(settings),
        "trained": asdict(done),
        "data": {
            "training": len(training),
            "validation": len(held_out),
            "plans": sum(example.task == "plan" for example in training),
            "empty": sum('"triples":[]' in example.answer for example in training),
            "training_sha256": fingerprint(training),
            "validation_sha256": fingerprint(held_out),
        },
    }
    (out / "record.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    export_gguf(out / "adapter", out / "adapter" / "base", arguments.adapter)
    print(f"adapter: {arguments.adapter}; validation loss {done.validation_loss:.4f}", flush=True)
    for module in ("evaluate", "card"):
        command = [arguments.engine, "-m", f"extractors.training.{module}", "--out", str(out)]
        subprocess.run([*command, "--adapter", str(arguments.adapter)], check=True)


if __name__ == "__main__":
    main()
