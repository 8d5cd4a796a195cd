"""Text2KGBench's files as they are: which belong together, ontologies, sentences and gold triples.

The two halves of the benchmark write ontologies differently. Names may be mojibake, lines may end in CRLF,
and escapes may hold half of a surrogate pair: nothing of that stops a run.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Triple

from extractors.errors import EvaluationError
from ontology import vocabulary as v
from ontology.loading import SUFFIXES, OntologyFile, read_file
from ontology.schema import Schema
from ontology.terms import PropertyKind

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


_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


def read_bytes(path: Path) -> bytes:
    """The content of a file. Raises `EvaluationError` when there is none."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}. Give an existing file.") from error


def decoded(content: bytes) -> str:
    """The characters of a file; what is no UTF-8 is replaced."""
    return content.decode("utf-8-sig", errors="replace")


def whole(text: str) -> str:
    """The text with what is no character replaced: nothing that stores or sends text takes it."""
    return _HALF_PAIR.sub("\ufffd", text)


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines with the numbers of their lines.

    Raises `EvaluationError` for a line that is none.
    """
    # Cut at \n alone: a sentence may hold other characters that Python takes for ends of lines.
    for number, line in enumerate(decoded(read_bytes(path)).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise EvaluationError(
                f"{path}, line {number} is not JSON: {error}. Write one JSON object a line."
            ) from error
        if not isinstance(row, dict):
            raise EvaluationError(f"{path}, line {number} is no JSON object. Write one JSON object a line.")
        yield number, {key: whole(held) if isinstance(held, str) else held for key, held in row.items()}


_NAMESPACE: Final = "urn:text2kgbench:"
_WIKIDATA: Final = re.compile(r'"pid"\s*:\s*"P\d+"|wikidata\.org/(?:entity|prop/direct)/P\d+')
_WIKIDATA_CONCEPT: Final = re.compile(r'"qid"\s*:\s*"Q\d+"')
_ITEM: Final = re.compile(r"Q\d+")
_DATATYPES: Final = {
    **dict.fromkeys(("string", "text", "literal", "langstring"), "string"),
    **dict.fromkeys(("number", "decimal", "double", "float", "quantity"), "decimal"),
    **dict.fromkeys(("integer", "int", "nonnegativeinteger", "positiveinteger"), "integer"),
    **dict.fromkeys(("date", "datetime"), "date"),
    **dict.fromkeys(("year", "gyear"), "gYear"),
}


@dataclass(frozen=True)
class BenchmarkOntology:
    """An ontology with its concepts as the benchmark lists them.

    `wikidata`: it is made of Wikidata's terms, so the gold has dates as Wikidata has them. `digest` is a hash
    of what was read.
    """

    schema: Schema
    concepts: tuple[str, ...]
    wikidata: bool
    digest: str


def read_ontology(path: Path) -> BenchmarkOntology:
    """Read an ontology: the benchmark's JSON or an OWL file. Raises `EvaluationError` or `OntologyError`."""
    content = read_bytes(path)
    wikidata = _is_of_wikidata(decoded(content))
    if path.suffix in SUFFIXES:
        schema = Schema((read_file(path),))
        concepts = tuple(term.label for term in schema.classes.values())
    else:
        try:
            value = json.loads(decoded(content))
            concepts = tuple(_label(one, "qid") for one in value.get("concepts") or ())
            triples = tuple(_triples(value))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise EvaluationError(
                f"{path} is not one of Text2KGBench's ontologies ({error!r}): it holds an object with lists "
                'of "concepts" and "relations", each with a "label".'
            ) from error
        digest = hashlib.sha256(content).hexdigest()
        schema = Schema((OntologyFile(path, triples, {}, digest, content),))
    if not relations_of(schema):
        raise EvaluationError(f"{path} has no relation: nothing can be asked. Give an ontology with some.")
    return BenchmarkOntology(schema, concepts, wikidata, schema.version)


def relations_of(schema: Schema) -> frozenset[str]:
    """The relations that an ontology offers, by label."""
    return frozenset(
        term.label
        for term in schema.properties.values()
        if term.label and term.kind is not PropertyKind.ANNOTATION
    )


def _is_of_wikidata(text: str) -> bool:
    """Whether the relations are Wikidata's, or, where they have no identifiers, the concepts are."""
    return bool(_WIKIDATA.search(text) or ('"pid"' not in text and _WIKIDATA_CONCEPT.search(text)))


def _label(one: Mapping[str, Any], identifier: str) -> str:
    """The label of a term, else its identifier; on one line, as a prompt and a form show it."""
    return " ".join(whole(str(one.get("label") or one[identifier])).split())


def _triples(value: Mapping[str, Any]) -> Iterator[Triple]:
    """The ontology in OWL's terms. A relation without a range may have anything as its object."""
    base = _NAMESPACE + quote(str(value.get("id") or value.get("title") or "ontology"), safe="")
    concepts: dict[str, NamedNode] = {}
    for concept in value.get("concepts") or ():
        label = _label(concept, "qid")
        identifier = str(concept.get("qid") or label)
        iri = NamedNode(f"{base}:concept:{quote(identifier, safe='')}")
        concepts.setdefault(identifier, iri)
        concepts.setdefault(label, iri)
        yield from _class(iri, label)
    for number, relation in enumerate(value["relations"]):
        label = _label(relation, "pid")
        iri = NamedNode(f"{base}:relation:{number}:{quote(label, safe='')}")
        yield Triple(iri, v.TYPE, v.RDF_PROPERTY)
        yield Triple(iri, v.LABEL, Literal(label, language="en"))
        for predicate, name in ((v.DOMAIN, "domain"), (v.RANGE, "range")):
            for end in _ends(relation.get(name)):
                datatype = _DATATYPES.get(re.split(r"[:#/]", end)[-1].casefold())
                if end not in concepts and predicate == v.RANGE and datatype:
                    yield Triple(iri, predicate, NamedNode(v.XSD + datatype))
                    continue
                if end not in concepts and not _ITEM.fullmatch(end):
                    # A class that the concepts leave out. A bare number of Wikidata's would say nothing.
                    concepts[end] = NamedNode(f"{base}:concept:{quote(end, safe='')}")
                    yield from _class(concepts[end], end)
                if end in concepts:
                    yield Triple(iri, predicate, concepts[end])


def _class(iri: NamedNode, label: str) -> Iterator[Triple]:
    yield Triple(iri, v.TYPE, v.OWL_CLASS)
    yield Triple(iri, v.LABEL, Literal(label, language="en"))


def _ends(value: Any) -> list[str]:
    """The names of a domain or range: one, several, or none."""
    several = value if isinstance(value, list) else [value]
    return [whole(one).strip() for one in several if isinstance(one, str) and one.strip()]


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
