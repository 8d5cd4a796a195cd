"""GeoQuestions1089 as a test of forms: a plan of the gold query's shape, or a gap that names the word?

    python -m benchmarks.geoquestions FILE.json.gz [--out OUTCOMES.jsonl]

The data set's graph is not needed: names, classes and properties are read from the gold queries, each with a
few made-up statements, so that the linker knows what the questions speak of; a place is also of the class
that a question names beside it. A shape is the form of the answer, which spatial operations there are
(without direction or number), whether something is ranked, and how many names and things of a class there
are. Queries for the geometry itself ("Where is X?") have no plan in the language.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyoxigraph import Literal, NamedNode, Variable

from ontology.labels import split_camel_case
from research.questions.asking import QuestionGraph
from sparql.syntax import nodes as n
from sparql.syntax.parser import parse_query
from sparql.syntax.request_facts import QueryForm
from sparql.syntax.tokens import NotUnderstood

PREFIXES = {
    "geo": "http://www.opengis.net/ont/geosparql#",
    "geof": "http://www.opengis.net/def/function/geosparql/",
    "uom": "http://www.opengis.net/def/uom/OGC/1.0/",
    "strdf": "http://strdf.di.uoa.gr/ontology#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "yago": "http://yago-knowledge.org/resource/",
    "y2geor": "http://kr.di.uoa.gr/yago2geo/resource/",
    "y2geoo": "http://kr.di.uoa.gr/yago2geo/ontology/",
}
PROLOGUE = "".join(f"PREFIX {name}: <{iri}> " for name, iri in PREFIXES.items())
RDF_TYPE = NamedNode(PREFIXES["rdf"] + "type")
OPERATIONS = {
    "sfWithin": "within",
    "within": "within",
    "sfContains": "within",
    "contains": "within",
    "sfTouches": "touches",
    "touches": "touches",
    "sfIntersects": "overlaps",
    "sfCrosses": "overlaps",
    "intersects": "overlaps",
    "overlaps": "overlaps",
    "above": "north or south",
    "below": "north or south",
    "left": "west or east",
    "right": "west or east",
    "north": "north or south",
    "south": "north or south",
    "west": "west or east",
    "east": "west or east",
    "distance": "distance",
    "area": "area",
}


@dataclass(frozen=True)
class Shape:
    """What a query or a plan consists of."""

    form: str
    operations: frozenset[str]
    ranked: bool
    names: int
    classes: int


@dataclass(frozen=True)
class Gold:
    """A question with the terms and the shape of its gold query."""

    question: str
    shape: Shape | None
    names: frozenset[str]
    classes: frozenset[str]
    properties: frozenset[str]


def read_gold(question: str, query: str) -> Gold:
    """Read a question and its query; one that cannot be parsed has no shape."""
    try:
        read = parse_query(PROLOGUE + query).query
    except NotUnderstood:
        return Gold(question, None, frozenset(), frozenset(), frozenset())
    nodes = list(n.walk(read))
    triples = [triple for node in nodes if isinstance(node, n.Statement) for triple in node.triples]
    places = (PREFIXES["yago"], PREFIXES["y2geor"])
    terms = [term for triple in triples for term in (triple.subject, triple.object)]
    names = frozenset(t.value for t in terms if isinstance(t, NamedNode) and t.value.startswith(places))
    classes = frozenset(
        t.object.value for t in triples if t.predicate == RDF_TYPE and isinstance(t.object, NamedNode)
    )
    own = PREFIXES["y2geoo"]
    properties = frozenset(
        t.predicate.value for t in triples if t.predicate is not None and t.predicate.value.startswith(own)
    )
    operations = {OPERATIONS.get(re.split(r"[#/]", call.iri.value)[-1], "") for call in n.calls_in(read)}
    operations |= {"area" for one in properties if term_of(one).endswith("area")}
    things = {str(t.subject) for t in triples if t.predicate == RDF_TYPE}
    shape = Shape(
        _form(read, nodes, triples), frozenset(operations - {""}), bool(read.order), len(names), len(things)
    )
    return Gold(question, shape, names, classes, properties)


def _form(query: n.Query, nodes: list[n.Node], triples: list[n.TriplePattern]) -> str:
    if query.form is QueryForm.ASK:
        return "exists"
    first = (query.projection or (None,))[0]
    if first is None:
        return "list"
    if first.expression is not None:
        operation = first.expression
        return "count" if isinstance(operation, n.Operation) and operation.name == "COUNT" else "value"
    if any(isinstance(node, n.Bind) and node.variable == first.variable for node in nodes):
        return "value"
    for triple in triples:
        predicate = triple.predicate.value if triple.predicate is not None else ""
        if isinstance(triple.object, Variable) and triple.object.value == first.variable:
            if predicate.endswith(("asWKT", "hasGeometry")):
                return "where"
            if predicate.startswith(PREFIXES["y2geoo"]):
                return "value"
    return "list"


def shape_of(tree: Mapping[str, Any]) -> Shape:
    """Return the shape of a plan's tree."""
    parts = list(_parts(tree))
    forms = {"values": "value", "difference": "value", "aggregation": "value", "every": "exists"}
    operations = {OPERATIONS.get(p["place"], p["place"]) for p in parts if p.get("op") == "place link"}
    for side in (p["side"] for p in parts if p.get("op") == "side of"):
        operations |= {OPERATIONS[one] for one in ("north", "south", "west", "east") if one in side}
    operations |= {"distance" for p in parts if p.get("op") in ("near", "distance to")}
    sizes = ("size of", "value of")
    operations |= {"area" for p in parts if p.get("op") in sizes and "area" in json.dumps(p).lower()}
    names = {p["entity"]["iri"] for p in parts if p.get("op") == "named"}
    kinds = {p["of"]["iri"] for p in parts if p.get("op") == "kind"}
    ranked = any(p.get("op") == "top" for p in parts)
    return Shape(forms.get(tree["op"], tree["op"]), frozenset(operations), ranked, len(names), len(kinds))


def _parts(part: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(part, Mapping):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _parts(one)


def name_of(iri: str) -> str:
    """Return the name of a place as its IRI has it: without prefixes of the source, numbers and brackets."""
    name = iri.rpartition("/")[2].removeprefix("geoentity_")
    return re.sub(r"\(.*?\)|_\d+$", "", name).replace("_", " ").removeprefix("Dimos ").strip()


def term_of(iri: str) -> str:
    """Return the label of a class or property: `OSI_County_Council` is "county council"."""
    name = re.sub(r"^(has)?(GAG|OSM|OSI|OSNI|OS|GADM)_", "", iri.rpartition("/")[2]).replace("_", " ")
    return name.lower() if name.isupper() else split_camel_case(name)


def statements(golds: list[Gold]) -> Iterator[str]:
    """Yield a made-up graph with all terms: places, two of each class, a number for each property."""
    names = sorted(frozenset[str]().union(*(one.names for one in golds)))
    classes = sorted(frozenset[str]().union(*(one.classes for one in golds)))
    properties = sorted(frozenset[str]().union(*(one.properties for one in golds)))
    things = [(iri, name_of(iri), "urn:made:Place") for iri in names]
    things += [(f"urn:made:{n}-{k}", f"Xq{n}x{k}", iri) for n, iri in enumerate(classes) for k in (1, 2)]
    for iri, kind in sorted(_kinds_beside(golds, classes)):
        yield f"<{iri}> a <{kind}> ."
    for number, (iri, label, kind) in enumerate(things):
        x, y = number % 40, number // 40
        square = f"POLYGON(({x} {y}, {x + 0.5} {y}, {x + 0.5} {y + 0.5}, {x} {y + 0.5}, {x} {y}))"
        yield f"<{iri}> a <{kind}> ; <{PREFIXES['rdfs']}label> {Literal(label)} ."
        yield f"<{iri}> <{PREFIXES['geo']}hasDefaultGeometry> <{iri}/g> ."
        yield f'<{iri}/g> <{PREFIXES["geo"]}asWKT> "{square}"^^<{PREFIXES["geo"]}wktLiteral> .'
        for one in properties:
            yield f"<{iri}> <{one}> {1000 + number} ."
    for iri in (*classes, "urn:made:Place"):
        label = term_of(iri) if iri in classes else "place"
        kind = "http://www.w3.org/2002/07/owl#Class"
        yield f"<{iri}> a <{kind}> ; <{PREFIXES['rdfs']}label> {Literal(label)} ."
    for iri in properties:
        kind = "http://www.w3.org/2002/07/owl#DatatypeProperty"
        yield f"<{iri}> a <{kind}> ; <{PREFIXES['rdfs']}label> {Literal(term_of(iri))} ."


def _kinds_beside(golds: list[Gold], classes: list[str]) -> Iterator[tuple[str, str]]:
    """Yield places with a class that a question names beside them: "the municipality of X", "X park"."""
    for gold in golds:
        text = gold.question.lower()
        for iri in gold.names:
            name = re.escape(name_of(iri).lower())
            for kind in classes:
                label = re.escape(term_of(kind))
                if re.search(rf"{label} (of )?(the )?{name}|{name} {label}", text):
                    yield iri, kind


async def ask_all(golds: list[Gold], out: Path | None) -> Counter[str]:
    """Ask all questions and count the outcomes."""
    with TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        made.mkdir()
        (made / "graph.ttl").write_text("\n".join(statements(golds)), encoding="utf-8")
        graph = QuestionGraph([made / "graph.ttl"], made)
    counts: Counter[str] = Counter(questions=len(golds))
    lines = []
    for gold in golds:
        result = await graph.asker.ask(gold.question)
        shape = shape_of(result.plan[-1]["tree"]) if result.plan else None
        named = any("did not use" in gap["message"] for gap in result.gaps)
        counts["with a plan"] += shape is not None
        counts["with a gap that names the word"] += shape is None and named
        counts["with neither"] += shape is None and not named
        has = gold.shape is not None and gold.shape.form != "where"
        counts["with constructs of the plan language"] += has
        counts["of these, planned in the gold's shape"] += has and shape == gold.shape
        gaps = [gap["message"] for gap in result.gaps]
        lines.append({"question": gold.question, "gold": str(gold.shape), "plan": str(shape), "gaps": gaps})
    if out is not None:
        out.write_text(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
        )
    return counts


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="GeoQuestions1089's questions as JSON, gzipped")
    parser.add_argument("--out", type=Path, help="JSON lines to write: each question with both shapes")
    arguments = parser.parse_args()
    with gzip.open(arguments.file, "rt", encoding="utf-8") as file:
        questions = json.load(file)
    golds = [read_gold(one["Question"], one["Query"]) for one in questions.values()]
    for words, count in asyncio.run(ask_all(golds, arguments.out)).items():
        print(f"{count:5} {words}")


if __name__ == "__main__":
    main()
