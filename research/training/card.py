"""Writes the model card of a run from its records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from extractors.models.local.weights import ADAPTER_FILE, PACKAGED, WEIGHTS_SHA256, sha256_of
from research.training.held_out import table_of
from research.training.labeled import NAME as FEWREL
from research.training.rows import LONGEST_DIALOG, LONGEST_FORM

_CARD: Final = """---
base_model: {base}
library_name: peft
tags: [lora, knowledge-graph]
---
# Model card: {name}

A LoRA adapter for `{base}` ({architecture}), trained to answer:
{turns}. Written by the run that trained it.

| | |
|---|---|
| model servers | the folder `adapter` (PEFT), adapter_model.safetensors sha256 `{safetensors}` |
| llama.cpp, embedded | {gguf} |
| dialogs | {template} |
| license | {license} |
| again | `{command}` |

## Data
{training} training and {validation} validation examples: {sources}. {sentences}sha256 of the training
examples `{training_hash}`, of validation `{validation_hash}`, of {test} test instructions `{test_hash}`.
Lengths in tokens:

| kind | examples | median | longest | too long, left out | fields left out |
|---|---|---|---|---|---|
{lengths}

## Settings
{settings}. {mixture}. LoRA on all linear layers of attention and MLP, AdamW; the rate stays level and
falls to zero over the last part. The base computes in {precision}, the adapter in float32; loss on the
answers' tokens only, and the fields of a form do not see each other.

{steps} of {of_steps} steps over {examples} examples on {device}, {minutes:.1f} minutes since it was last
started at {speed} tokens/s; it ended with its {ended}. Loss by step: {curve}.

Validation loss by kind: {losses}.

## Test
{tested}
{scores}{measured}
## Limits
- What it says is a candidate, never a fact: the linker drops what does not fit, and the gate checks the rest.
- It knows the kinds of answers named above and no others; what it was not trained on, its base answers.
- Labels that are incomplete or wrong teach the same.
"""

_SENTENCES: Final = (
    (
        "city",
        "Passages about cities (`city`) and plans of questions (`plan`) are composed from the frames and "
        "names in `research/training/frames`, divided by hash: validation uses no frame of "
        "training. ",
    ),
    (
        "ont_",
        "The sentences named `ont_...` are training rows in the layout of Text2KGBench (its own are CC BY-SA "
        "4.0). Rows whose subject is not in the sentence are left out, relations are renamed, turned round "
        "and shuffled. ",
    ),
    (FEWREL, "Those named `fewrel` are of FewRel's validation part (thunlp/FewRel, MIT), a relation each. "),
    (
        "instruction",
        "Those named `instruction` are turns of a teacher's dialogs (the command trajectories). ",
    ),
)
_USUAL: Final = {
    "epochs": 1, "batch": 16, "rank": 16, "learning_rate": 1e-3, "warm_up": 30, "decay": 0.4,
    "seed": 7, "longest": LONGEST_FORM, "longest_dialog": LONGEST_DIALOG,
}  # fmt: skip
"""What `python -m research train` takes for options that are not given."""
_MIXTURE: Final = {"city": 4000, "plans": 900, "repeats": 1, "long": 0.0}

_SCORES: Final = """
## Scores on held-out frames and names
Through the real engine, as it is served; a field counts where its answer is more likely than none.

| | |
|---|---|
| city: fields, exact | {city_exact} of {city_fields} |
| city: precision / recall / F1 of pairs | {city} |
| labeled sentences (labels may be incomplete): precision / recall / F1 | {topics} |
| plans, exact | {plan_exact} of {plan} |
| calibration on the city's pairs | ECE {ece}, Brier {brier} |
| speed while measured | {speed} generated tokens/s; load {load} s |
"""


def write_card(out: Path) -> Path:
    """Write MODEL_CARD.md from what the run and the evaluations left in `out`.

    `record.json` must be there; `scores.json` and `measured.md`, what was measured after the run, are taken
    where they are.
    """
    record = json.loads((out / "record.json").read_text(encoding="utf-8"))
    data, trained, adapter = record["data"], record["trained"], record["adapter"]
    curve = trained["curve"]
    card = _CARD.format(
        name=adapter["name"],
        base=adapter["base"],
        architecture=adapter["architecture"],
        turns=", ".join(adapter["turns"]),
        safetensors=sha256_of(out / "adapter" / "adapter_model.safetensors"),
        gguf=_gguf(out, record),
        template=_template(record),
        license=_license(record),
        command=_command(record),
        training=data["training"],
        validation=data["validation"],
        test=data["test"],
        sources=", ".join(f"{count} {source}" for source, count in data["sources"].items()),
        sentences="".join(
            words for begins, words in _SENTENCES if any(one.startswith(begins) for one in data["sources"])
        ),
        training_hash=data["training_sha256"],
        validation_hash=data["validation_sha256"],
        test_hash=data["test_sha256"],
        lengths="\n".join(
            f"| {kind} | " + " | ".join(str(value) for value in found.values()) + " |"
            for kind, found in record["lengths"].items()
        ),
        settings=_listed(record["settings"]),
        mixture=_listed(record["mixture"]).capitalize(),
        precision=record["precision"],
        steps=trained["steps"],
        of_steps=trained["of_steps"],
        examples=trained["examples"],
        minutes=trained["seconds"] / 60,
        speed=trained["tokens_per_second"],
        ended=trained["ended"],
        device=record["device"],
        curve=", ".join(f"{step}: {loss}" for step, loss in curve[:: max(1, len(curve) // 12)]),
        losses=_listed(record["validation_loss"]) or "nothing to validate with",
        tested=_tested(record["test"]),
        scores=_scores(out / "scores.json"),
        measured=_measured(out / "measured.md"),
    )
    path = out / "MODEL_CARD.md"
    path.write_text(card, encoding="utf-8")
    return path


def _gguf(out: Path, record: Mapping[str, Any]) -> str:
    file = out / ADAPTER_FILE
    if record["gguf"] != "written" or not file.is_file():
        return f"no: {record['gguf'].splitlines()[-1]}"
    weights = f"; packaged weights sha256 `{WEIGHTS_SHA256}`" if record["base"] == PACKAGED else ""
    size = file.stat().st_size / 1e6
    return f"`{ADAPTER_FILE}`, {size:.1f} MB, Q8_0 GGUF, sha256 `{sha256_of(file)}`{weights}"


def _template(record: Mapping[str, Any]) -> str:
    plain = record["plain_template"]
    said = "the plain template in `adapter/chat_template.jinja`" if plain else "the chat template of the base"
    return said + ("; system messages open the first user turn" if record["system_in_user_turn"] else "")


def _license(record: Mapping[str, Any]) -> str:
    parts = ["Apache-2.0 weights" if record["base"] == PACKAGED else "that of the base"]
    if any(source.startswith("ont_") for source in record["data"]["sources"]):
        parts.append("CC BY-SA 4.0 where the sentences are Text2KGBench's")
    return "; ".join(parts)


def _command(record: Mapping[str, Any]) -> str:
    """The command that trains so again: every option that is not the default."""
    sources, test = record["data"]["sources"], record["data"]["test"]
    words = [f"python -m research train --out {record['adapter']['name']} --minutes {record['minutes']:g}"]
    if record["base"] != PACKAGED:
        words.append(f"--base {record['base']}")
    folders = {"wikidata_tekgen": "ont_1_movie", "dbpedia_webnlg": "ont_1_university"}
    words += [f"--text2kgbench {folder}" for folder, ontology in folders.items() if ontology in sources]
    words += ["--fewrel val_wiki.json"] if FEWREL in sources else []
    words += ["--instructions instruct.jsonl"] if "instruction" in sources else []
    words += ["--test test.jsonl"] if test else []
    words += [f"--start {record['start']}"] if record["start"] else []
    for given, usual in ((record["settings"], _USUAL), (record["mixture"], _MIXTURE)):
        words += [
            f"--{name.replace('_', '-')} {given[name]:g}"
            for name, value in usual.items()
            if given[name] != value
        ]
    return " ".join(words)


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in values.items())


def _tested(found: Mapping[str, Mapping[str, Any]]) -> str:
    if not found:
        return "No test instructions were given (`--test`).\n"
    return (
        "On instructions that were not learned from, by kind of turn. `loss`: of all; `answered`: "
        "those whose answer was generated, greedily and without a schema; `exact`: the same triples, "
        "relation, verdict or words as the teacher's; precision, recall and F1: of triples, micro.\n\n"
        f"{table_of(found)}\n"
    )


def _measured(path: Path) -> str:
    return "\n" + path.read_text(encoding="utf-8") if path.is_file() else ""


def _scores(path: Path) -> str:
    if not path.is_file():
        return ""
    found = json.loads(path.read_text(encoding="utf-8"))
    counts, fitted = found["counts"], found.get("reliability", {})
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
        ece=fitted.get("ece", "not fitted"),
        brier=fitted.get("brier", "not fitted"),
        speed=found["completion_tokens_per_second"],
        load=found["load_seconds"],
    )
