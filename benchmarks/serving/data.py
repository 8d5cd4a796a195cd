"""A made-up city: places with ten statements each, and the queries about it."""

from __future__ import annotations

import random
from pathlib import Path

E = "http://example.org/"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
XSD = "http://www.w3.org/2001/XMLSchema#"
PER_PLACE = 10
DISTRICTS = 500

THREE_HOPS = (
    f"SELECT ?a ?o {{ ?a <{E}district> <{E}district/%d> . "
    f"?a <{E}near> ?b . ?b <{E}near> ?c . ?c <{E}operator> ?o }}"
)
TEN_THOUSAND = f"SELECT ?s ?l {{ ?s <{LABEL}> ?l }} LIMIT 10000"
AGGREGATE = (
    "SELECT ?d (AVG(?p) AS ?mean) (COUNT(*) AS ?n) "
    f"{{ ?s <{E}district> ?d ; <{E}population> ?p }} GROUP BY ?d"
)
EVERYTHING = "SELECT ?s ?p ?o { ?s ?p ?o }"
CONSTRUCT = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
LOOKUP = f"SELECT ?p ?o WHERE {{ <{E}place/%d> ?p ?o }}"


def write_city(path: Path, triples: int) -> int:
    """Write the N-Triples of so many statements, the same in every run; returns the number of places."""
    chance = random.Random(1)
    places = triples // PER_PLACE
    with path.open("w") as out:
        for number in range(places):
            subject = f"<{E}place/{number}>"
            objects = [
                (RDF_TYPE, f"<{E}Type{number % 20}>"),
                (LABEL, f'"Place number {number}"'),
                (f"{E}population", f'"{chance.randrange(1_000_000)}"^^<{XSD}integer>'),
                (f"{E}district", f"<{E}district/{chance.randrange(DISTRICTS)}>"),
                (f"{E}operator", f"<{E}operator/{chance.randrange(2000)}>"),
                (f"{E}built", f'"{1800 + chance.randrange(220)}"^^<{XSD}gYear>'),
                (f"{E}height", f'"{chance.random() * 200:.2f}"^^<{XSD}decimal>'),
                *((f"{E}near", f"<{E}place/{chance.randrange(places)}>") for _ in range(3)),
            ]
            out.writelines(f"{subject} <{predicate}> {object_} .\n" for predicate, object_ in objects)
    return places
