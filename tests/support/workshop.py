"""A small ontology with its shapes, in folders of their own, for tests that edit them."""

from pathlib import Path
from typing import Any

import httpx

from server.settings import Settings

CITY = """@prefix : <http://example.org/city#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://example.org/city> a owl:Ontology ; owl:versionIRI <http://example.org/city/1.0> .
skos:definition a owl:AnnotationProperty .

:Place a owl:Class ; rdfs:label "place"@en ; skos:definition "Somewhere." .
:Park a owl:Class ; rdfs:subClassOf :Place ; rdfs:label "park"@en ; skos:definition "Green." .
:Road a owl:Class ; rdfs:subClassOf :Place ; rdfs:label "road"@en ; skos:definition "A way." ;
    owl:disjointWith :Park .
:near a owl:ObjectProperty ; rdfs:label "near"@en ; skos:definition "Not far." ;
    rdfs:domain :Place ; rdfs:range :Place .
:name a owl:DatatypeProperty ; rdfs:label "name"@en ; skos:definition "What it is called." ;
    rdfs:domain :Place ; rdfs:range rdfs:Literal .
"""
RULES = """@prefix : <http://example.org/city#> .
@prefix s: <http://example.org/shapes#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .

s:Named sh:targetClass :Park ; sh:path :name ; sh:minCount 1 ; sh:message "A park has a name."@en .
"""
SHORT = """
s:Short sh:targetSubjectsOf :name ; sh:path :name ; sh:maxLength 5 ; sh:message "Keep names short."@en .
"""
PREFIX = "PREFIX : <http://example.org/city#>\n"


def folders(root: Path, *, ontology: str = CITY, shapes: str = RULES) -> tuple[Path, Path]:
    """Folders `ontology` and `shapes` with these files."""
    for name, file, text in (("ontology", "city.ttl", ontology), ("shapes", "rules.ttl", shapes)):
        (root / name).mkdir(exist_ok=True)
        (root / name / file).write_text(text, encoding="utf-8")
    return root / "ontology", root / "shapes"


def settings_of(**values: Any) -> Settings:
    """Settings with these values, the defaults for all others."""
    return Settings(**values)


def settings_in(root: Path) -> Settings:
    """Settings of a server over these folders."""
    return settings_of(
        data=root / "data",
        readers=1,
        ontology=root / "ontology",
        shapes=root / "shapes",
        language="",
        reasoner="none",
    )


async def update(client: httpx.AsyncClient, text: str) -> httpx.Response:
    """Send an update in the terms of the city."""
    headers = {"content-type": "application/sparql-update"}
    return await client.post("/sparql", content=PREFIX + text, headers=headers)


async def submit(client: httpx.AsyncClient, *rows: tuple[str, str, str]) -> dict[str, list[object]]:
    """Submit candidates: `a` is rdf:type, a value in quotes is a text, other words are terms of the city."""
    city, rdf_type = "http://example.org/city#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    message = [
        {
            "subject": city + subject,
            "predicate": rdf_type if predicate == "a" else city + predicate,
            "object": {"type": "literal", "value": value.strip("'")}
            if value.startswith("'")
            else {"type": "uri", "value": city + value},
        }
        for subject, predicate, value in rows
    ]
    answer = await client.post("/candidates", json={"statements": message})
    assert answer.is_success, answer.text
    found: dict[str, list[object]] = answer.json()
    return found
