import pytest
from pyoxigraph import NamedNode, Quad, Store, Triple, parse

from sparql.model.vocabulary import RDF
from sparql.protocol.description import (
    SD,
    VOID,
    DatasetFacts,
    Vocabulary,
    describe_dataset,
    describe_service,
    write,
)
from sparql.protocol.formats import GRAPH_FORMATS, Format
from sparql.workers.functions import load_aggregates, load_functions

ENDPOINT = NamedNode("http://localhost/sparql")
FACTS = DatasetFacts(12, (NamedNode("http://e/g"),))


def described(*, updates: bool = False) -> list[Triple]:
    return describe_service(ENDPOINT, load_functions(), FACTS, updates=updates)


@pytest.mark.parametrize("format_", GRAPH_FORMATS, ids=lambda one: one.name)
def test_the_description_reads_back_from_every_graph_format(format_: Format) -> None:
    read = list(parse(write(described(), format_), format=format_.engine))
    assert len(read) == len(described())


def test_there_is_one_service_with_its_endpoint() -> None:
    services = [triple.subject for triple in described() if triple.object == SD.Service]
    assert len(services) == 1
    assert Triple(services[0], SD.endpoint, ENDPOINT) in described_from(services[0])


def described_from(service: object) -> list[Triple]:
    return [Triple(service, triple.predicate, triple.object) for triple in described()]  # type: ignore[arg-type]


def test_updates_are_named_only_where_they_are_taken() -> None:
    assert SD.SPARQL11Update not in {triple.object for triple in described()}
    assert SD.SPARQL11Update in {triple.object for triple in described(updates=True)}


def test_the_geosparql_functions_are_listed() -> None:
    functions = {triple.object for triple in described() if triple.predicate == SD.extensionFunction}
    assert NamedNode("http://www.opengis.net/def/function/geosparql/sfWithin") in functions


def test_the_geosparql_aggregates_are_listed() -> None:
    listed = describe_service(ENDPOINT, (), FACTS, updates=False, aggregates=load_aggregates())
    aggregates = {triple.object for triple in listed if triple.predicate == SD.extensionAggregate}
    assert NamedNode("http://www.opengis.net/def/function/geosparql/aggUnion") in aggregates


def test_named_graphs_are_named() -> None:
    assert NamedNode("http://e/g") in {
        triple.object for triple in described() if triple.predicate == SD.name_
    }


def test_void_names_the_endpoint_and_counts_the_triples() -> None:
    dataset = NamedNode("http://localhost/.well-known/void#dataset")
    triples = describe_dataset(dataset, ENDPOINT, FACTS)
    assert Triple(dataset, RDF.type, VOID.Dataset) in triples
    assert Triple(dataset, VOID.sparqlEndpoint, ENDPOINT) in triples
    assert {triple.object.value for triple in triples if triple.predicate == VOID.triples} == {"12"}


def test_void_has_partitions_by_class_and_property_with_what_connects_them() -> None:
    museum, park, label, beside = (
        NamedNode("http://e/" + name) for name in ("Museum", "Park", "label", "beside")
    )
    string = NamedNode("http://www.w3.org/2001/XMLSchema#string")
    facts = DatasetFacts(
        5,
        classes={museum: 2, park: 1},
        properties={label: 3, beside: 2},
        vocabulary=Vocabulary({"e": "http://e/"}, uses={label: [(museum, string)], beside: [(museum, park)]}),
    )
    store = Store()
    described = describe_dataset(NamedNode("http://localhost/void"), ENDPOINT, facts)
    store.extend(Quad(*triple) for triple in described)
    found = store.query("""
        PREFIX void: <http://rdfs.org/ns/void#> PREFIX void-ext: <http://ldf.fi/void-ext#>
        SELECT ?n ?p ?o WHERE { ?d a void:Dataset ; void:classPartition ?c .
          ?c void:class <http://e/Museum> ; void:entities ?n ; void:propertyPartition ?pp .
          ?pp void:property ?p
          { ?pp void:classPartition/void:class ?o }
          UNION { ?pp void-ext:datatypePartition/void-ext:datatype ?o }
        } ORDER BY ?p""")
    rows = [tuple(term.value for term in row) for row in found]
    assert rows == [("2", beside.value, park.value), ("2", label.value, string.value)]
    counted = store.query("""PREFIX void: <http://rdfs.org/ns/void#>
        SELECT ?n { ?d a void:Dataset ;
          void:propertyPartition [ void:property <http://e/label> ; void:triples ?n ] }""")
    assert [row["n"].value for row in counted] == ["3"]
    prefixes = store.query("""PREFIX sh: <http://www.w3.org/ns/shacl#>
        SELECT ?p ?n { ?d a <http://rdfs.org/ns/void#Dataset> ;
        sh:declare [ sh:prefix ?p ; sh:namespace ?n ] }""")
    assert [(row["p"].value, row["n"].value) for row in prefixes] == [("e", "http://e/")]
