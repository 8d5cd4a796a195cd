"""SPARQLWrapper."""

import SPARQLWrapper as sw
from checks import GRAPH, MUSEUMS, NAMES, SPARQL, UPDATE, run, same


def asked(query: str, kind: str, method: str = sw.GET) -> sw.SPARQLWrapper:
    wrapper = sw.SPARQLWrapper(SPARQL, updateEndpoint=UPDATE)
    wrapper.setQuery(query)
    wrapper.setReturnFormat(kind)
    wrapper.setMethod(method)
    return wrapper


def select(method: str) -> None:
    found = asked(MUSEUMS, sw.JSON, method).queryAndConvert()
    same([row["name"]["value"] for row in found["results"]["bindings"]], NAMES)


def text(kind: str) -> None:
    found = asked(MUSEUMS, kind).queryAndConvert()
    same(all(name in found.decode() for name in NAMES), True)


def xml() -> None:
    same(len(asked(MUSEUMS, sw.XML).queryAndConvert().getElementsByTagName("result")), 2)


def graph(kind: str) -> None:
    found = asked(GRAPH, kind).queryAndConvert()
    same(len(found) == 2 if kind not in (sw.TURTLE, sw.N3) else b"Clock Museum" in found, True)


def update() -> None:
    asked("INSERT DATA { GRAPH <urn:wrapper> { <urn:s> <urn:p> 1 } }", sw.JSON, sw.POST).query()
    found = asked("ASK { GRAPH <urn:wrapper> { <urn:s> <urn:p> 1 } }", sw.JSON).queryAndConvert()
    same(found["boolean"], True)


run(
    "SPARQLWrapper",
    sw.__version__,
    {
        "SELECT by GET, JSON": lambda: select(sw.GET),
        "SELECT by POST, JSON": lambda: select(sw.POST),
        "SELECT, XML": xml,
        "SELECT, CSV": lambda: text(sw.CSV),
        "SELECT, TSV": lambda: text(sw.TSV),
        "CONSTRUCT, Turtle": lambda: graph(sw.TURTLE),
        "CONSTRUCT, N3": lambda: graph(sw.N3),
        "CONSTRUCT, RDF/XML": lambda: graph(sw.RDFXML),
        "CONSTRUCT, XML": lambda: graph(sw.XML),
        "CONSTRUCT, JSON-LD": lambda: graph(sw.JSONLD),
        "UPDATE": update,
    },
)
