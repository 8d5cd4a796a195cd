"""Training sentences from Text2KGBench's files: train and validation rows, never its test sentences.

A row of Wikidata-TekGen is one triple, and most facts of a sentence are in no row. What can be completed is
completed: a triple that one row states about a subject also holds in every other sentence of the ontology
that names both ends. A field without a triple counts as `none` with less weight, because it may only be
missing. A row of DBpedia-WebNLG has all triples of its sentence, which was written from them. Names are
turned into the words of the sentence; a row whose subject is not in its sentence teaches invention and is
left out.
"""

from __future__ import annotations

import calendar
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extractors.readers.form import Field

_MONTHS = frozenset(calendar.month_name[1:])
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WRITTEN = re.compile(r"\d[\d,]*(?:\.\d+)?(?<!,)")
_DATE = re.compile(r"(\d\d) +([A-Z][a-z]*) *(\d{3,4})$|(\d\d) +(\d{3,4})$")


@dataclass(frozen=True)
class LabeledSentence:
    """A sentence, the pairs of each relation's label that are known, and the labels nothing is known of.

    `unknown` are relations that a row states of a subject that the sentence does not name.
    """

    text: str
    pairs: Mapping[str, tuple[tuple[str, str], ...]]
    unknown: frozenset[str]


@dataclass(frozen=True)
class Topic:
    """One ontology and its training sentences; `complete`: the labels are all that a sentence states."""

    name: str
    fields: tuple[Field, ...]
    sentences: tuple[LabeledSentence, ...]
    complete: bool = False


def _folded(words: str) -> str:
    return re.sub(r"[\W_]+", "", words).casefold()


def _verbatim(name: str, text: str) -> str | None:
    """Find a name in a sentence, whatever the spaces, dashes and case, and give the sentence's own words."""
    letters = [re.escape(letter) for letter in name if letter.isalnum()]
    if not letters:
        return None
    gap = r"[\W_]*"
    found = re.search(rf"(?<!\w){gap.join(letters)}(?!\w)", text, re.IGNORECASE)
    if found is None:
        return None
    start, end = found.span()
    while end < len(text) and text[end] in ')!?"' and text[end] in name[-1:]:
        end += 1
    return text[start:end]


def _shortened(name: str, text: str) -> str | None:
    """Find a person's name that the sentence writes with further names between, or by the last one alone."""
    parts = re.findall(r"\w+", name)
    if len(parts) < 2:
        return None
    between = r"\W+(?:[A-Z]\S*\W+){0,3}".join(re.escape(part) for part in parts)
    if found := re.search(rf"(?<!\w){between}(?!\w)", text):
        return found.group()
    last = parts[-1]
    return last if len(last) > 3 and last[0].isupper() and re.search(rf"(?<!\w){last}(?!\w)", text) else None


def _date_in(value: str, text: str) -> str | None:
    """Find the date that a value ("01 January 2008") stands for, in the sentence's own words."""
    match = _DATE.match(value)
    if match is None:
        return None
    day, month, year = match.group(1), match.group(2), match.group(3) or match.group(5)
    if month in _MONTHS:
        number = str(int(day))
        for form in (
            rf"{month}\s+{number}(?:st|nd|rd|th)?,?\s+{year}",
            rf"{number}(?:st|nd|rd|th)?\s+(?:of\s+)?{month},?\s+{year}",
            rf"{month}\s+{year}",
        ):
            if found := re.search(rf"(?<!\w){form}(?!\w)", text):
                return found.group()
    return year if re.search(rf"(?<!\d){year}(?!\d)", text) else None


def _like(value: str, text: str) -> bool:
    """Tell whether a value is a form of a word of the sentence: "Japan" of "Japanese"."""
    return len(value) >= 4 and value.isalpha() and _folded(value)[:4] in _folded(text)


def held_back(sentence: str, share: float) -> bool:
    """Choose a sentence for validation by its hash, the same ones in every run."""
    number = int.from_bytes(hashlib.sha256(sentence.encode()).digest()[:4], "big")
    return number / 2**32 < share


def _rows(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


def _plain(name: str) -> str:
    """The words of a DBpedia name: without underscores, quotes, datatype and what tells namesakes apart."""
    words = re.sub(r"\^\^.*|@[a-z]{2}$", "", name).strip('"').replace("_", " ")
    if iso := re.fullmatch(r"(\d{3,4})-(\d\d)-(\d\d)", words):
        month = calendar.month_name[min(12, max(1, int(iso[2])))]
        return f"{iso[3]} {month} {iso[1]}"
    return re.sub(r"\s*\([^()]*\)$", "", words).strip() or words


def _number_in(value: str, text: str) -> str | None:
    """Find a number ("69862200.0") as the sentence writes it ("69,862,200")."""
    if not _NUMBER.fullmatch(value):
        return None
    for found in _WRITTEN.finditer(text):
        if float(found.group().replace(",", "")) == float(value):
            return found.group()
    return None


def read_topic(ontology: Path, rows: Sequence[Path]) -> Topic:
    """Read one ontology and its training rows."""
    document = json.loads(ontology.read_text(encoding="utf-8"))
    concepts: dict[str, str] = {one["qid"]: one["label"].strip() for one in document["concepts"]}

    def concept(key: str) -> str:
        return concepts.get(key, "" if re.fullmatch(r"Q\d+", key or "Q0") else key)

    fields = tuple(
        Field(relation["label"].strip(), concept(relation["domain"]), concept(relation["range"]))
        for relation in document["relations"]
    )
    stated: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    known: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    complete = False
    for row in _rows(rows):
        if "triples" in row:
            complete = True
            stated[row["sent"]] |= {
                (_plain(one["sub"]), one["rel"].strip(), _plain(one["obj"])) for one in row["triples"]
            }
            continue
        triple = (row["sub_label"], row["rel_label"].strip(), row["obj_label"])
        stated[row["sent"]].add(triple)
        known[_folded(row["sub_label"])].add(triple)
    sentences = []
    for text, triples in sorted(stated.items()):
        for subject in {triple[0] for triple in triples}:
            if _verbatim(subject, text):
                triples |= {
                    triple for triple in known[_folded(subject)] if _verbatim(triple[2], text) is not None
                }
        sentences.append(_labeled(text, triples))
    return Topic(document["id"], fields, tuple(sentences), complete)


def _labeled(text: str, triples: Iterable[tuple[str, str, str]]) -> LabeledSentence:
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    unknown: set[str] = set()
    for subject, relation, value in sorted(triples):
        head = _verbatim(subject, text) or _shortened(subject, text)
        tail = _date_in(value, text) or _verbatim(value, text) or _number_in(value, text)
        if tail is None and _like(value, text):
            tail = value
        if head is None or tail is None:
            unknown.add(relation)
        elif (head, tail) not in pairs[relation]:
            pairs[relation].append((head, tail))
    ordered = {
        relation: tuple(sorted(found, key=lambda pair: (text.find(pair[0]), text.find(pair[1]))))
        for relation, found in pairs.items()
    }
    return LabeledSentence(" ".join(text.split()), ordered, frozenset(unknown))


def read_topics(folder: Path) -> list[Topic]:
    """Read the ontologies of an unpacked `wikidata_tekgen` or `dbpedia_webnlg` folder, with training rows."""
    topics = []
    for ontology in sorted((folder / "ontologies").glob("*_ontology.json")):
        name = ontology.stem.removesuffix("_ontology")
        rows = sorted(folder.glob(f"train/ont_{name}_train.jsonl")) + sorted(
            folder.glob(f"validation/ont_{name}_validation.jsonl")
        )
        topics.append(read_topic(ontology, rows))
    return topics


NAME = "fewrel"
_TIGHT_BEFORE = re.compile(r"[,.;:!?)\]%]|'s|n't|'")
_OPENING = frozenset("([")
_DASHES = frozenset("-–/")


def read_fewrel(path: Path, most: int = 150) -> Topic:
    """Read the file as one topic with a field for each relation, and `most` sentences of each."""
    document = json.loads(path.read_text(encoding="utf-8"))
    names = {key: one["name"].strip() for key, one in document["relations"].items()}
    sentences = [
        sentence
        for key, examples in sorted(document["examples"].items())
        for example in examples[:most]
        if (sentence := _sentence(names[key], example)) is not None
    ]
    return Topic(NAME, tuple(Field(name) for name in names.values()), tuple(sentences))


def _sentence(relation: str, example: dict[str, Any]) -> LabeledSentence | None:
    text, spans = _prose(example["tokens"])
    ends = []
    for side in ("h", "t"):
        places = example[side][2][0]
        ends.append(text[spans[places[0]][0] : spans[places[-1]][1]])
    head, tail = ends
    if "|" in text or head == tail:
        return None
    return LabeledSentence(text, {relation: ((head, tail),)}, frozenset())


def _prose(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Join tokens as prose writes them; also the place of each in it."""
    text, spans, quoted, tight = "", [], False, True
    for token in tokens:
        word = " ".join(token.split())
        closing = word == '"' and quoted
        if text and not tight and not closing and not _TIGHT_BEFORE.fullmatch(word) and word not in _DASHES:
            text += " "
        spans.append((len(text), len(text) + len(word)))
        text += word
        tight = word in _OPENING or word in _DASHES or (word == '"' and not quoted)
        quoted ^= word == '"'
    return text, spans
