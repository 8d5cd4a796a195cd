"""A small ontology with its shapes, in folders of their own, for tests that edit them."""

from pathlib import Path

CITY = """@prefix : <http://example.org/city#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://example.org/city> a owl:Ontology ; owl:versionIRI <http://example.org/city/1.0> .

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
