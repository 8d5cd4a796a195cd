"""Text2KGBench's files as they are: an ontology as JSON, sentences and gold triples as JSON lines.

Names in them may be mojibake, lines may end in CRLF, and escapes may hold half of a surrogate pair: none of
it stops a run. A file that is something else altogether is told with its line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from extractors.errors import EvaluationError
from extractors.research.evaluation.text2kgbench.lines import read_bytes, read_rows, whole
from extractors.research.evaluation.text2kgbench.ontologies import read_ontology, relations_of
from ontology.schema import Schema

__all__ = ["Fact", "Identifier", "Sentence", "TestSet", "read_test_set"]

Identifier = str | int
"""The benchmark's own are words; those of other files may be numbers, and stay numbers in predictions."""

_SHOWN: Final = 5


@dataclass(frozen=True)
class Fact:
    """A triple in words, as the benchmark writes it."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True)
class Sentence:
    """A text to read, with the benchmark's name for it."""

    identifier: Identifier
    text: str


@dataclass(frozen=True)
class TestSet:
    """The sentences of one ontology; `gold` holds the facts of a sentence by its name, where they are known.

    `concepts` are those that the ontology lists. `digest` is a hash of the ontology and the sentences, so
    that a run can be told from another. `wikidata`: the gold has dates as Wikidata has them. `notes` tell
    what in the files does not fit together, for the person who runs.
    """

    __test__ = False

    name: str
    schema: Schema
    sentences: tuple[Sentence, ...]
    gold: Mapping[Identifier, frozenset[Fact]]
    digest: str
    concepts: tuple[str, ...] = ()
    wikidata: bool = False
    notes: tuple[str, ...] = ()


def read_test_set(ontology: Path, sentences: Path, gold: Path | None = None) -> TestSet:
    """Read the files of one ontology; without a gold file, it is the triples that the sentences have.

    Raises `EvaluationError` for a file that is not the benchmark's, with the line.
    """
    known = read_ontology(ontology)
    rows = list(read_rows(sentences))
    notes: list[str] = []
    found: dict[Identifier, Sentence] = {}
    for number, row in rows:
        sentence = _sentence(sentences, number, row)
        first = found.setdefault(sentence.identifier, sentence)
        if first.text != sentence.text:
            notes.append(
                f"{sentences}, line {number}: {sentence.identifier} has stood before with another text, "
                "which is the one that is read."
            )
    if not found:
        raise EvaluationError(f"{sentences} holds no sentence. Give a file of JSON lines with some.")
    facts: dict[Identifier, set[Fact]] = {}
    for number, row in read_rows(gold) if gold is not None else rows:
        stated = _facts_of(gold or sentences, number, row)
        if stated is not None:
            facts.setdefault(row.get("id", ""), set()).update(stated)
    if gold is not None:
        notes += _misfits(gold, facts, found, relations_of(known.schema))
    return TestSet(
        name=ontology.stem.removesuffix("_ontology"),
        schema=known.schema,
        sentences=tuple(found.values()),
        gold={identifier: frozenset(stated) for identifier, stated in facts.items()},
        digest=hashlib.sha256(known.digest.encode() + read_bytes(sentences)).hexdigest()[:12],
        concepts=known.concepts,
        wikidata=known.wikidata,
        notes=tuple(notes),
    )


def _sentence(path: Path, number: int, row: Mapping[str, Any]) -> Sentence:
    identifier, text = row.get("id"), row.get("sent")
    if not isinstance(identifier, str | int) or not isinstance(text, str):
        raise EvaluationError(
            f'{path}, line {number}: a sentence needs an "id", and "sent" as text. Give the file of '
            "sentences, not that of predictions."
        )
    return Sentence(identifier, text)


def _misfits(
    gold: Path,
    facts: Mapping[Identifier, Iterable[Fact]],
    sentences: Mapping[Identifier, Sentence],
    relations: frozenset[str],
) -> Iterator[str]:
    """What of the gold belongs to no sentence or to no relation. Raises `EvaluationError` when all of it."""
    if facts.keys().isdisjoint(sentences):
        what = f"belongs to none of the {len(sentences)} sentences" if facts else "holds no triples"
        raise EvaluationError(
            f'{gold} {what}: its rows need the ids of the sentences, and "triples". Give their file of gold.'
        )
    without = [name for name in sentences if name not in facts]
    if without:
        yield f"{gold} says nothing of {_some(without)}, which count towards no score against gold."
    if others := [name for name in facts if name not in sentences]:
        yield f"{gold} has rows of {_some(others)}, which are no sentences here and are passed over."
    words = {relation.replace(" ", "_") for relation in relations}
    named = {fact.relation for stated in facts.values() for fact in stated}
    if lacking := sorted(one for one in named if one.replace(" ", "_") not in words):
        yield f"{gold} has relations that the ontology lacks, and that no answer can meet: {_some(lacking)}."


def _some(names: Iterable[Identifier]) -> str:
    listed = [str(name) for name in names]
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def _facts_of(path: Path, number: int, row: Mapping[str, Any]) -> list[Fact] | None:
    """The facts of a row: a list of them (gold, predictions) or one (train, validation); None without any."""
    if "triples" in row:
        listed = row["triples"]
        keys = ("sub", "rel", "obj")
    elif "rel_label" in row:
        listed = [row]
        keys = ("sub_label", "rel_label", "obj_label")
    else:
        return None
    try:
        return [Fact(*(whole(str(one[key])) for key in keys)) for one in listed]
    except (KeyError, TypeError) as error:
        raise EvaluationError(
            f'{path}, line {number}: a triple needs "sub", "rel" and "obj" ({error!r}).'
        ) from error
