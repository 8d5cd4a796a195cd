"""Which files belong together: named one by one, or found in folders by the names of the benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from extractors.errors import EvaluationError

__all__ = ["Files", "find_files", "paired"]

_ONTOLOGY: Final = re.compile(r"(?P<key>\d+_.+)_ontology\.json")
_SENTENCES: Final = re.compile(r"ont_(?P<key>\d+_.+)_(?P<split>[a-z]+)\.jsonl")
_GOLD: Final = re.compile(r"ont_(?P<key>\d+_.+?)(?:_(?P<split>[a-z]+))?_ground_truth\.jsonl")

Files = tuple[Path, Path, Path | None]
"""An ontology, its sentences, and their gold where it has a file of its own."""


def paired(ontologies: Sequence[Path], sentences: Sequence[Path], gold: Sequence[Path]) -> list[Files]:
    """The files in the order in which they were named. Raises `EvaluationError` when one is missing."""
    if not ontologies or len(ontologies) != len(sentences) or len(gold) not in (0, len(sentences)):
        raise EvaluationError(
            "Name as many files of sentences as of ontologies, in the same order, and as many of gold "
            f"or none: there are {len(ontologies)}, {len(sentences)} and {len(gold)}."
        )
    known: Sequence[Path | None] = gold or [None] * len(sentences)
    return list(zip(ontologies, sentences, known, strict=True))


def find_files(folders: Iterable[Path], split: str | None) -> list[Files]:
    """Find `N_TOPIC_ontology.json`, `ont_N_TOPIC_SPLIT.jsonl` and `..._ground_truth.jsonl`, by the number.

    Raises `EvaluationError` when there are none, or sentences of several splits and none is chosen.
    """
    found = sorted(path for folder in folders for path in _all(folder))
    ontologies = {match["key"]: path for path in found if (match := _ONTOLOGY.fullmatch(path.name))}
    gold = {(match["key"], match["split"]): path for path in found if (match := _GOLD.fullmatch(path.name))}
    sentences = {
        (match["key"], match["split"]): path
        for path in found
        if not _GOLD.fullmatch(path.name) and (match := _SENTENCES.fullmatch(path.name))
    }
    splits = sorted({held for key, held in sentences if key in ontologies})
    if split is None and len(splits) > 1:
        raise EvaluationError(f"There are sentences of {', '.join(splits)}: choose one with --split.")
    chosen = split or (splits[0] if splits else "")
    files: list[Files] = [
        (ontology, sentences[key, chosen], gold.get((key, chosen), gold.get((key, None))))
        for key, ontology in sorted(ontologies.items(), key=lambda pair: int(pair[0].partition("_")[0]))
        if (key, chosen) in sentences
    ]
    if not files:
        raise EvaluationError(
            "No ontology with its sentences was found: the folders need files named like "
            f"1_movie_ontology.json and ont_1_movie_{chosen or 'test'}.jsonl."
        )
    return files


def _all(folder: Path) -> Iterable[Path]:
    if not folder.is_dir():
        raise EvaluationError(f"{folder} is no folder. Name an existing one.")
    return folder.rglob("*.json*")
