"""The benchmark's ontologies: lists of concepts and relations as JSON, or an OWL file.

The two halves of the benchmark write them differently. That of Wikidata has words for labels, names domains
and ranges by Q numbers and leaves out those that are no concept. That of DBpedia has names in camel case, and
ranges such as "number", "Date" or a class that is not among the concepts.
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
from extractors.research.evaluation.text2kgbench.lines import decoded, read_bytes, whole
from ontology import vocabulary as v
from ontology.loading import SUFFIXES, OntologyFile, read_file
from ontology.schema import Schema
from ontology.terms import PropertyKind

__all__ = ["BenchmarkOntology", "read_ontology", "relations_of"]

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
