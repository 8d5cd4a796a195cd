"""A small benchmark in Text2KGBench's form, written for the tests."""

import json
from pathlib import Path
from typing import Any

ONTOLOGY = {
    "title": "Harbour Ontology",
    "id": "ont_1_harbour",
    "concepts": [{"qid": "Q1", "label": "harbour"}, {"qid": "Q2", "label": "human"}],
    "relations": [
        {"pid": "ownedBy", "label": "owned by", "domain": "Q1", "range": "Q2"},
        {"pid": "openingDate", "label": "opening date", "domain": "Q1", "range": ""},
    ],
}
SENTENCES = {
    "h_1": "Grey Quay has belonged to Ada Stone since 1901.",
    "h_2": "Mole End opened in 1888.",
    "h_3": "Nothing is known of it.",
}
GOLD = {
    "h_1": [("Grey Quay", "owned by", "Ada Stone")],
    "h_2": [("Mole End", "opening date", "1888")],
    "h_3": [],
}


def lines(rows: list[Any], end: str = "\n") -> str:
    return "".join(json.dumps(row) + end for row in rows)


def triples(facts: list[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [{"sub": s, "rel": r, "obj": o} for s, r, o in facts]


def write(folder: Path, *, end: str = "\n", number: int = 1) -> tuple[Path, Path, Path]:
    """Write ontology, sentences and gold as the benchmark names them."""
    ontology = folder / f"{number}_harbour_ontology.json"
    sentences = folder / f"ont_{number}_harbour_dev.jsonl"
    gold = folder / f"ont_{number}_harbour_dev_ground_truth.jsonl"
    ontology.write_bytes(json.dumps(ONTOLOGY, indent=1).replace("\n", end).encode())
    rows: list[dict[str, Any]] = [{"id": f"{key}_{number}", "sent": text} for key, text in SENTENCES.items()]
    sentences.write_bytes(lines(rows, end).encode())
    known = [{**row, "triples": triples(GOLD[row["id"][:3]])} for row in rows]
    gold.write_bytes(lines(known, end).encode())
    return ontology, sentences, gold
