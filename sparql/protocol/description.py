"""The endpoint's self-description: the SPARQL 1.1 service description and the VoID description."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from sparql.model.vocabulary import DCTERMS, RDF, XSD, Namespace
from sparql.protocol.formats import GRAPH_FORMATS, RESULT_FORMATS, Format

SD = Namespace("http://www.w3.org/ns/sparql-service-description#")
VOID = Namespace("http://rdfs.org/ns/void#")
FORMATS = Namespace("http://www.w3.org/ns/formats/")

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
    "geof": "http://www.opengis.net/def/function/geosparql/",
}


@dataclass(frozen=True)
class DatasetFacts:
    """Counts of the dataset: triples of the default graph, and clients' named graphs.

    ``empty_graphs`` is whether named graphs may be empty.
    """

    triples: int
    named_graphs: tuple[NamedNode, ...] = ()
    empty_graphs: bool = True


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


def describe_dataset(
    dataset_iri: NamedNode, endpoint: NamedNode, dataset: DatasetFacts, vocabularies: Sequence[NamedNode]
) -> list[Triple]:
    """The VoID description (Describing Linked Datasets with the VoID Vocabulary, 2 to 4)."""
    return [
        Triple(dataset_iri, RDF.type, VOID.Dataset),
        Triple(dataset_iri, VOID.sparqlEndpoint, endpoint),
        Triple(dataset_iri, VOID.triples, _integer(dataset.triples)),
        *(Triple(dataset_iri, VOID.feature, _term(format_)) for format_ in GRAPH_FORMATS),
        *(Triple(dataset_iri, VOID.vocabulary, vocabulary) for vocabulary in vocabularies),
    ]


def write(triples: Iterable[Triple], format_: Format) -> bytes:
    """A description in one of the graph formats."""
    assert isinstance(format_.engine, RdfFormat)
    return serialize(triples, format=format_.engine, prefixes=_PREFIXES) or b""


def _term(format_: Format) -> NamedNode:
    return FORMATS.term(_FORMAT_TERMS[format_.name])


def _integer(number: int) -> Literal:
    return Literal(str(number), datatype=XSD.integer)
