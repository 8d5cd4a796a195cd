"""Who decides about review items, and as what the provenance names them."""

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from sparql.model.vocabulary import PROV, PROVENANCE, RDF, RDFS, RECORD
from sparql.provenance.records import digest


@dataclass(frozen=True)
class Reviewer:
    """Who decides: a person's name, and the request's key, if any."""

    name: str
    key: str | None = None


def agent_quads(by: Reviewer, activity: NamedNode) -> Iterator[Quad]:
    """Who carried out an activity (PROV-O, 3.3), and with which key."""
    person = agent(by.name)
    yield _said(activity, PROV.wasAssociatedWith, person)
    yield _said(person, RDF.type, PROV.Agent)
    yield _said(person, RDFS.label, Literal(by.name))
    if by.key is not None and by.key != by.name:
        key = agent(by.key)
        yield _said(person, PROV.actedOnBehalfOf, key)
        yield _said(key, RDF.type, PROV.Agent)
        yield _said(key, RDFS.label, Literal(by.key))


def agent(name: str) -> NamedNode:
    """The agent of this name."""
    return RECORD.term("agent/" + digest(name))


def _said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal) -> Quad:
    return Quad(subject, predicate, value, PROVENANCE)
