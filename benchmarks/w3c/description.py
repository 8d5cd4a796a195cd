"""Service description tests (SPARQL 1.1 Service Description, 2 and 3)."""

from __future__ import annotations

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat

from benchmarks.w3c.manifest import RDF, Test
from benchmarks.w3c.server_process import Answered, Server

_SD = "http://www.w3.org/ns/sparql-service-description#"
_FORMATS = {
    "text/turtle": RdfFormat.TURTLE,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/n-triples": RdfFormat.N_TRIPLES,
}
# Property: class of its subject, class of its object (3.4). None: any resource.
_SCHEMA = {
    "endpoint": ("Service", None),
    "feature": ("Service", None),
    "defaultEntailmentRegime": ("Service", None),
    "entailmentRegime": ("NamedGraph", None),
    "defaultSupportedEntailmentProfile": ("Service", None),
    "supportedEntailmentProfile": ("NamedGraph", None),
    "extensionFunction": ("Service", None),
    "extensionAggregate": ("Service", None),
    "languageExtension": ("Service", None),
    "supportedLanguage": ("Service", None),
    "propertyFeature": ("Service", None),
    "inputFormat": ("Service", None),
    "resultFormat": ("Service", None),
    "defaultDataset": ("Service", "Dataset"),
    "availableGraphs": ("Service", "GraphCollection"),
    "defaultGraph": ("Dataset", "Graph"),
    "namedGraph": (None, "NamedGraph"),
    "name": ("NamedGraph", None),
    "graph": ("NamedGraph", "Graph"),
}
_LANGUAGES = {_SD + name for name in ("SPARQL10Query", "SPARQL11Query", "SPARQL11Update")}
_FEATURES = {
    _SD + name
    for name in (
        "DereferencesURIs",
        "UnionDefaultGraph",
        "RequiresDataset",
        "EmptyGraphs",
        "BasicFederatedQuery",
    )
}


def run_description_test(server: Server, test: Test) -> str | None:
    """Why a service description test fails; None if it passes."""
    answer = server.send("GET", "/sparql", {"Accept": "text/turtle, application/rdf+xml;q=0.5"})
    if answer.status != 200 or answer.media_type not in _FORMATS:
        return f"{answer.status} {answer.media_type} instead of RDF"
    graph = _graph(answer)
    match test.name.rpartition("#")[2]:
        case "returns-rdf":
            return None if len(graph) else "the graph is empty"
        case "has-endpoint-triple":
            endpoint = NamedNode(server.url + "/sparql")
            found = list(graph.quads_for_pattern(None, NamedNode(_SD + "endpoint"), endpoint))
            return None if found else f"there is no sd:endpoint {endpoint}"
        case "conforms-to-schema":
            return _against_schema(graph)
    return "there is no such test here"


def _graph(answer: Answered) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    store.load(answer.body, format=_FORMATS[answer.media_type])
    return store


def _against_schema(graph: pyoxigraph.Store) -> str | None:
    """Every sd: property is known, and its subject and object are of the classes it is for."""
    services = list(graph.quads_for_pattern(None, NamedNode(RDF + "type"), NamedNode(_SD + "Service")))
    if not services:
        return "there is no sd:Service"
    for quad in graph:
        if not quad.predicate.value.startswith(_SD):
            continue
        name = quad.predicate.value.removeprefix(_SD)
        if name not in _SCHEMA:
            return f"sd:{name} is no property of the vocabulary"
        subject_class, object_class = _SCHEMA[name]
        if isinstance(quad.object, Literal):
            return f"sd:{name} has a literal"
        if not _is_a(graph, quad.subject, subject_class):
            return f"the subject of sd:{name} is no sd:{subject_class}"
        if not _is_a(graph, quad.object, object_class):
            return f"the object of sd:{name} is no sd:{object_class}"
        known = {"supportedLanguage": _LANGUAGES, "feature": _FEATURES}.get(name)
        if known is not None and str(quad.object)[1:-1] not in known and str(quad.object)[1:].startswith(_SD):
            return f"{quad.object} is none of the vocabulary's"
    return None


def _is_a(graph: pyoxigraph.Store, node: object, class_name: str | None) -> bool:
    if class_name is None:
        return True
    if not isinstance(node, NamedNode | BlankNode):
        return False
    types = graph.quads_for_pattern(node, NamedNode(RDF + "type"), None)
    return any(quad.object == NamedNode(_SD + class_name) for quad in types)
