"""LangChain's graphs over SPARQL, with the answer of a question by a model that is given its replies."""

from importlib.metadata import version

from checks import MUSEUMS, NAMES, SPARQL, UPDATE, URBAN, run, same
from langchain_community.chains.graph_qa.ontotext_graphdb import OntotextGraphDBQAChain
from langchain_community.chains.graph_qa.sparql import GraphSparqlQAChain
from langchain_community.graphs import OntotextGraphDBGraph, RdfGraph
from langchain_core.language_models import FakeListChatModel

ONTOLOGY = "CONSTRUCT { ?s ?p ?o } FROM <https://w3id.org/urbankg/graph/ontology> WHERE { ?s ?p ?o }"


def schema(standard: str) -> None:
    graph = RdfGraph(query_endpoint=SPARQL, standard=standard)
    same("Museum" in graph.get_schema, True)


def rows() -> None:
    graph = RdfGraph(query_endpoint=SPARQL, standard="owl")
    same([str(row.name) for row in graph.query(MUSEUMS)], NAMES)


def updated() -> None:
    graph = RdfGraph(query_endpoint=SPARQL, update_endpoint=UPDATE, standard="rdf")
    graph.graph.update("INSERT DATA { GRAPH <urn:langchain> { <urn:s> <urn:p> 1 } }")
    same(bool(graph.graph.query("ASK { GRAPH <urn:langchain> { <urn:s> <urn:p> 1 } }")), True)


def chain() -> None:
    graph = RdfGraph(query_endpoint=SPARQL, standard="owl")
    model = FakeListChatModel(responses=["SELECT", MUSEUMS, "Two museums."])
    asked = GraphSparqlQAChain.from_llm(model, graph=graph, allow_dangerous_requests=True)
    same(asked.invoke({"query": "Which museums are there?"})["result"], "Two museums.")


def graphdb() -> OntotextGraphDBGraph:
    return OntotextGraphDBGraph(query_endpoint=SPARQL, query_ontology=ONTOLOGY)


def graphdb_chain() -> None:
    model = FakeListChatModel(responses=[MUSEUMS, "Two museums."])
    asked = OntotextGraphDBQAChain.from_llm(model, graph=graphdb(), allow_dangerous_requests=True)
    same(asked.invoke({"query": "Which museums are there?"})["result"], "Two museums.")


run(
    "LangChain RdfGraph",
    version("langchain-community"),
    {
        "the schema as OWL": lambda: schema("owl"),
        "the schema as RDFS": lambda: schema("rdfs"),
        "the schema as RDF": lambda: schema("rdf"),
        "query": rows,
        "update": updated,
        "a question by GraphSparqlQAChain": chain,
    },
)
run(
    "LangChain OntotextGraphDBGraph",
    version("langchain-community"),
    {
        "the ontology by a CONSTRUCT": lambda: same(URBAN in graphdb().get_schema, True),
        "query": lambda: same([str(row.name) for row in graphdb().query(MUSEUMS)], NAMES),
        "a question by OntotextGraphDBQAChain": graphdb_chain,
    },
)
