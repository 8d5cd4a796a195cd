"""sparql-llm: it loads the example queries and the schema, and checks queries against the schema."""

import json
import os
import tempfile
from importlib.metadata import version

import fastembed
from checks import PREFIXES, SPARQL, URBAN, run, same

# At its import it asks the endpoints of its settings, and loads a model of embeddings from a hub; what is
# tried here does not use the model.
os.environ["ENDPOINTS"] = json.dumps([{"endpoint_url": SPARQL, "label": "UrbanKG"}])
fastembed.TextEmbedding.__init__ = lambda self, *_, **__: None
_FOLDER = tempfile.TemporaryDirectory()
os.chdir(_FOLDER.name)
os.mkdir("data")

from sparql_llm import (  # noqa: E402
    SparqlExamplesLoader,
    SparqlVoidShapesLoader,
    query_sparql,
    validate_sparql_with_void,
)


def examples() -> None:
    found = SparqlExamplesLoader(SPARQL).load()
    same("How many things are there of each class?" in [one.page_content for one in found], True)
    for one in found:
        same("results" in query_sparql(one.metadata["answer"], SPARQL), True)


def schema() -> None:
    found = {one.metadata["iri"]: one.metadata["answer"] for one in SparqlVoidShapesLoader(SPARQL).load()}
    shape = found[URBAN + "Museum"]
    same([part in shape for part in ("urban:Museum", "rdfs:label", "rdf:langString")], [True] * 3)


def checked() -> None:
    query = PREFIXES + "SELECT * { ?museum a urban:Museum ; rdfs:label ?name ; urban:colour ?colour }"
    (issue,) = validate_sparql_with_void(query, SPARQL)
    same("urban:colour" in issue and "rdfs:label" in issue, True)
    same(validate_sparql_with_void(query.replace("; urban:colour ?colour", ""), SPARQL), set())


run(
    "sparql-llm",
    version("sparql-llm"),
    {
        "SparqlExamplesLoader: example queries, each run": examples,
        "SparqlVoidShapesLoader: the schema": schema,
        "validate_sparql_with_void: an unknown property of a class": checked,
    },
)
