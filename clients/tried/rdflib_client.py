"""rdflib: its SPARQL stores, SERVICE from a local graph, and reading what the server sends."""

import rdflib
from checks import GRAPH, MUSEUMS, NAMES, SPARQL, UPDATE, URBAN, URL, run, same
from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore


def select(**options: str) -> None:
    graph = rdflib.Graph(SPARQLStore(SPARQL, **options))
    same([str(row.name) for row in graph.query(MUSEUMS)], NAMES)


def construct() -> None:
    same(len(rdflib.Graph(SPARQLStore(SPARQL)).query(GRAPH).graph), 2)


def triples() -> None:
    graph = rdflib.Graph(SPARQLStore(SPARQL))
    same(len(list(graph.subjects(rdflib.RDF.type, rdflib.URIRef(URBAN + "Museum")))), 2)


def written() -> None:
    store = SPARQLUpdateStore(SPARQL, UPDATE, autocommit=True)
    graph = rdflib.Graph(store, identifier=rdflib.URIRef("urn:rdflib"))
    statement = (rdflib.URIRef("urn:s"), rdflib.URIRef("urn:p"), rdflib.Literal(1))
    graph.add(statement)
    same(statement in graph, True)
    graph.remove(statement)
    same(len(graph), 0)


def service() -> None:
    pattern = f"?museum a <{URBAN}Museum> ; <{rdflib.RDFS.label}> ?name"
    query = f"SELECT ?name WHERE {{ SERVICE <{SPARQL}> {{ {pattern} }} }} ORDER BY ?name"
    same([str(row.name) for row in rdflib.Graph().query(query)], NAMES)


def parsed(address: str) -> None:
    same(len(rdflib.Graph().parse(URL + address)) > 10, True)


run(
    "rdflib",
    rdflib.__version__,
    {
        "SELECT by GET": select,
        "SELECT by POST": lambda: select(method="POST"),
        "SELECT by POST as a form": lambda: select(method="POST_FORM"),
        "SELECT, JSON": lambda: select(returnFormat="json"),
        "CONSTRUCT": construct,
        "triples of a remote graph": triples,
        "add and remove in a named graph": written,
        "SERVICE from a local graph": service,
        "parse of the service description": lambda: parsed("/sparql"),
        "parse of VoID": lambda: parsed("/.well-known/void"),
    },
)
