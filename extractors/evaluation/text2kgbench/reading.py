"""Text2KGBench's files as they are: an ontology as JSON, sentences and gold triples as JSON lines.

Names in them may be mojibake, lines may end in CRLF, and escapes may hold half of a surrogate pair: none of
it stops a run. A file that is something else altogether is told with its line.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
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

__all__ = ["Fact", "Sentence", "TestSet", "concepts_of", "read_ontology", "read_test_set", "relations_of"]

_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_NAMESPACE: Final = "urn:text2kgbench:"
_WIKIDATA: Final = re.compile(r'"pid"\s*:\s*"P\d+"|wikidata\.org/(?:entity|prop/direct)/P\d+')


@dataclass(frozen=True)
class Fact:
    """A triple in words, as the benchmark writes it."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True)
class Sentence:
    """A text to read, with the benchmark's name for it."""

    identifier: str
    text: str


@dataclass(frozen=True)
class TestSet:
    """The sentences of one ontology; `gold` holds the facts of a sentence by its name, where they are known.

    `digest` is a hash of the ontology and the sentences, so that a run can be told from another. `wikidata`:
    the relations are Wikidata's, so the gold has dates as Wikidata has them.
    """

    __test__ = False

    name: str
    schema: Schema
    sentences: tuple[Sentence, ...]
    gold: Mapping[str, frozenset[Fact]]
    digest: str
    wikidata: bool = False


def read_test_set(ontology: Path, sentences: Path, gold: Path | None = None) -> TestSet:
    """Read the files of one ontology; without a gold file, it is the triples that the sentences have.

    Raises `EvaluationError` for a file that is not the benchmark's, with the line.
    """
    schema = read_ontology(ontology)
    rows = list(_rows(sentences))
    found: dict[str, Sentence] = {}
    for number, row in rows:
        identifier, text = row.get("id"), row.get("sent")
        if not isinstance(identifier, str) or not isinstance(text, str):
            raise EvaluationError(
                f'{sentences}, line {number}: a sentence needs "id" and "sent" as text. Give the file of '
                "sentences, not that of predictions."
            )
        found.setdefault(identifier, Sentence(identifier, text))
    facts: dict[str, set[Fact]] = {}
    source = gold or sentences
    for number, row in _rows(gold) if gold is not None else rows:
        known = _facts_of(source, number, row)
        if known is not None:
            facts.setdefault(str(row.get("id")), set()).update(known)
    digest = hashlib.sha256(schema.version.encode() + sentences.read_bytes()).hexdigest()[:12]
    return TestSet(
        name=ontology.stem.removesuffix("_ontology"),
        schema=schema,
        sentences=tuple(found.values()),
        gold={identifier: frozenset(known) for identifier, known in facts.items()},
        digest=digest,
        wikidata=_WIKIDATA.search(ontology.read_text(encoding="utf-8", errors="replace")) is not None,
    )


def read_ontology(path: Path) -> Schema:
    """Read an ontology: the benchmark's JSON or an OWL file. Raises `EvaluationError` or `OntologyError`."""
    if path.suffix in SUFFIXES:
        return Schema((read_file(path),))
    content = _bytes(path)
    try:
        value = json.loads(_text(content))
        triples = tuple(_triples(value))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EvaluationError(
            f"{path} is not one of Text2KGBench's ontologies ({error!r}): it holds an object with lists of "
            '"concepts" and "relations", each with a "label".'
        ) from error
    return Schema((OntologyFile(path, triples, {}, hashlib.sha256(content).hexdigest(), content),))


def relations_of(schema: Schema) -> frozenset[str]:
    """The relations that an ontology offers, by label."""
    return frozenset(
        term.label for term in schema.properties.values() if term.kind is not PropertyKind.ANNOTATION
    )


def concepts_of(schema: Schema) -> tuple[str, ...]:
    """The concepts of an ontology, by label."""
    return tuple(term.label for term in schema.classes.values())


def _triples(value: Mapping[str, Any]) -> Iterator[Triple]:
    """The ontology in OWL's terms. A relation without a range may have anything as its object."""
    base = _NAMESPACE + quote(str(value.get("id") or value.get("title") or "ontology"), safe="")
    concepts: dict[str, NamedNode] = {}
    for concept in value["concepts"]:
        label = _whole(concept["label"])
        identifier = str(concept.get("qid") or label)
        iri = NamedNode(f"{base}:concept:{quote(identifier, safe='')}")
        concepts.setdefault(identifier, iri)
        concepts.setdefault(label, iri)
        yield Triple(iri, v.TYPE, v.OWL_CLASS)
        yield Triple(iri, v.LABEL, Literal(label, language="en"))
    for number, relation in enumerate(value["relations"]):
        label = _whole(relation["label"])
        iri = NamedNode(f"{base}:relation:{number}:{quote(label, safe='')}")
        yield Triple(iri, v.TYPE, v.RDF_PROPERTY)
        yield Triple(iri, v.LABEL, Literal(label, language="en"))
        for predicate, end in ((v.DOMAIN, relation.get("domain")), (v.RANGE, relation.get("range"))):
            if end in concepts:
                yield Triple(iri, predicate, concepts[end])


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
        return [Fact(*(_whole(str(one[key])) for key in keys)) for one in listed]
    except (KeyError, TypeError) as error:
        raise EvaluationError(
            f'{path}, line {number}: a triple needs "sub", "rel" and "obj" ({error!r}).'
        ) from error


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    # Cut at \n alone: a sentence may hold other characters that Python takes for ends of lines.
    for number, line in enumerate(_text(_bytes(path)).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise EvaluationError(f"{path}, line {number} is not JSON: {error}.") from error
        if not isinstance(row, dict):
            raise EvaluationError(f"{path}, line {number} is no JSON object.")
        yield number, {key: _whole(held) if isinstance(held, str) else held for key, held in row.items()}


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}. Give an existing file.") from error


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig", errors="replace")


def _whole(text: str) -> str:
    """The text with what is no character replaced: nothing that stores or sends text takes it."""
    return _HALF_PAIR.sub("\ufffd", text)
