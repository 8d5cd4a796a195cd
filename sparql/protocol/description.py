"""The endpoint's self-description: the SPARQL 1.1 service description and the VoID description."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from sparql.model.vocabulary import DCTERMS, OWL, RDF, RDFS, SH, XSD, Namespace
from sparql.protocol.formats import GRAPH_FORMATS, RESULT_FORMATS, Format

SD = Namespace("http://www.w3.org/ns/sparql-service-description#")
VOID = Namespace("http://rdfs.org/ns/void#")
VOID_EXT = Namespace("http://ldf.fi/void-ext#")
FORMATS = Namespace("http://www.w3.org/ns/formats/")
_SCHEMA = Namespace("https://schema.org/")

_FORMAT_TERMS = {
    "json": "SPARQL_Results_JSON",
    "xml": "SPARQL_Results_XML",
    "csv": "SPARQL_Results_CSV",
    "tsv": "SPARQL_Results_TSV",
    "turtle": "Turtle",
    "ntriples": "N-Triples",
    "nquads": "N-Quads",
    "trig": "TriG",
    "rdfxml": "RDF_XML",
    "jsonld": "JSON-LD",
}
_PREFIXES = {
    "sd": SD.iri,
    "void": VOID.iri,
    "formats": FORMATS.iri,
    "dcterms": DCTERMS.iri,
    "xsd": XSD.iri,
    "sh": SH.iri,
    "void-ext": VOID_EXT.iri,
    "geof": "http://www.opengis.net/def/function/geosparql/",
}


Uses = Mapping[NamedNode, Iterable[tuple[NamedNode, NamedNode]]]
"""Of each property, the classes of its subjects with the classes or datatypes of its objects."""


@dataclass(frozen=True)
class Vocabulary:
    """What clients need to write queries; `examples` are nodes of the type `sh:SPARQLExecutable`."""

    prefixes: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Triple] = ()
    uses: Uses = field(default_factory=dict)
    ontologies: Sequence[NamedNode] = ()


@dataclass(frozen=True)
class DatasetFacts:
    """The triples of the default graph, how many are of each class and property, and clients' graphs.

    ``empty_graphs`` is whether named graphs may be empty.
    """

    triples: int
    named_graphs: tuple[NamedNode, ...] = ()
    empty_graphs: bool = True
    classes: Mapping[NamedNode, int] = field(default_factory=dict)
    properties: Mapping[NamedNode, int] = field(default_factory=dict)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)


def describe_service(
    endpoint: NamedNode,
    functions: Iterable[NamedNode],
    dataset: DatasetFacts,
    *,
    updates: bool,
    aggregates: Iterable[NamedNode] = (),
) -> list[Triple]:
    """The service description (SPARQL 1.1 Service Description, 3).

    ``functions`` and ``aggregates`` are the extensions that queries may call; ``updates`` says whether the
    endpoint takes updates.
    """
    service, default_dataset, default_graph = BlankNode(), BlankNode(), BlankNode()
    languages = [SD.SPARQL10Query, SD.SPARQL11Query, *([SD.SPARQL11Update] if updates else [])]
    triples = [
        Triple(service, RDF.type, SD.Service),
        Triple(service, SD.endpoint, endpoint),
        *(Triple(service, SD.supportedLanguage, language) for language in languages),
        *(Triple(service, SD.resultFormat, _term(format_)) for format_ in (*RESULT_FORMATS, *GRAPH_FORMATS)),
        *(Triple(service, SD.extensionFunction, function) for function in functions),
        *(Triple(service, SD.extensionAggregate, aggregate) for aggregate in aggregates),
        *([Triple(service, SD.feature, SD.EmptyGraphs)] if dataset.empty_graphs else []),
        Triple(service, SD.defaultDataset, default_dataset),
        Triple(default_dataset, RDF.type, SD.Dataset),
        Triple(default_dataset, SD.defaultGraph, default_graph),
        Triple(default_graph, RDF.type, SD.Graph),
        Triple(default_graph, VOID.triples, _integer(dataset.triples)),
        *_partitions(default_graph, dataset),
        *_examples(service, endpoint, dataset.vocabulary),
    ]
    for name in dataset.named_graphs:
        named, graph = BlankNode(), BlankNode()
        triples += [
            Triple(default_dataset, SD.namedGraph, named),
            Triple(named, RDF.type, SD.NamedGraph),
            Triple(named, SD.name_, name),
            Triple(named, SD.graph, graph),
            Triple(graph, RDF.type, SD.Graph),
        ]
    return triples


def describe_dataset(dataset_iri: NamedNode, endpoint: NamedNode, dataset: DatasetFacts) -> list[Triple]:
    """The VoID description (Describing Linked Datasets with the VoID Vocabulary, 2 to 4)."""
    return [
        Triple(dataset_iri, RDF.type, VOID.Dataset),
        Triple(dataset_iri, VOID.sparqlEndpoint, endpoint),
        Triple(dataset_iri, VOID.triples, _integer(dataset.triples)),
        *(Triple(dataset_iri, VOID.feature, _term(format_)) for format_ in GRAPH_FORMATS),
        *(Triple(dataset_iri, VOID.vocabulary, one) for one in dataset.vocabulary.ontologies),
        *_partitions(dataset_iri, dataset),
        *_examples(dataset_iri, endpoint, dataset.vocabulary),
    ]


def _partitions(of: NamedNode | BlankNode, dataset: DatasetFacts) -> Iterator[Triple]:
    """Classes and properties with their numbers (VoID, 4.3), and which properties connect which classes."""
    if not (dataset.classes or dataset.properties):
        return
    numbers = count(1)
    yield Triple(of, VOID.classes, _integer(len(dataset.classes)))
    yield Triple(of, VOID.properties, _integer(len(dataset.properties)))
    for iri, number in dataset.properties.items():
        part = BlankNode(f"p{next(numbers)}")
        yield Triple(of, VOID.propertyPartition, part)
        yield Triple(part, VOID.property, iri)
        yield Triple(part, VOID.triples, _integer(number))
    used: dict[NamedNode, dict[NamedNode, set[NamedNode]]] = defaultdict(lambda: defaultdict(set))
    for iri, ends in dataset.vocabulary.uses.items():
        for subject, found in ends:
            used[subject][iri].add(found)
    for iri, number in dataset.classes.items():
        part = BlankNode(f"p{next(numbers)}")
        yield Triple(of, VOID.classPartition, part)
        yield Triple(part, VOID.class_, iri)
        yield Triple(part, VOID.entities, _integer(number))
        if iri not in OWL and iri not in RDFS and iri not in SH:
            for used_here, objects in used.get(iri, {}).items():
                yield from _use(part, used_here, objects, dataset, numbers)


def _use(
    of: BlankNode, iri: NamedNode, objects: Iterable[NamedNode], dataset: DatasetFacts, numbers: Iterator[int]
) -> Iterator[Triple]:
    """A property of a class, with the classes and datatypes of its values."""
    part = BlankNode(f"p{next(numbers)}")
    yield Triple(of, VOID.propertyPartition, part)
    yield Triple(part, VOID.property, iri)
    for one in sorted(objects, key=lambda found: found.value):
        inner = BlankNode(f"p{next(numbers)}")
        if one in dataset.classes:
            yield Triple(part, VOID.classPartition, inner)
            yield Triple(inner, VOID.class_, one)
        elif one != OWL.Thing:
            yield Triple(part, VOID_EXT.datatypePartition, inner)
            yield Triple(inner, VOID_EXT.datatype, one)


def _examples(of: NamedNode | BlankNode, endpoint: NamedNode, vocabulary: Vocabulary) -> Iterator[Triple]:
    """The prefixes (SHACL, 5.2.1), and the example queries with the endpoint that runs them."""
    for prefix, namespace in vocabulary.prefixes.items():
        declared = BlankNode()
        yield Triple(of, SH.declare, declared)
        yield Triple(declared, SH.prefix, Literal(prefix))
        yield Triple(declared, SH.namespace, Literal(namespace, datatype=XSD.anyURI))
    yield from vocabulary.examples
    for query in dict.fromkeys(triple.subject for triple in vocabulary.examples):
        yield Triple(query, _SCHEMA.target, endpoint)


def write(triples: Iterable[Triple], format_: Format) -> bytes:
    """A description in one of the graph formats."""
    assert isinstance(format_.engine, RdfFormat)
    return serialize(triples, format=format_.engine, prefixes=_PREFIXES) or b""


def _term(format_: Format) -> NamedNode:
    return FORMATS.term(_FORMAT_TERMS[format_.name])


def _integer(number: int) -> Literal:
    return Literal(str(number), datatype=XSD.integer)
