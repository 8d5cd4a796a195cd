"""The relations of the ontology by name, and other names that training examples give them."""

from __future__ import annotations

from pathlib import Path

from pyoxigraph import Literal, NamedNode, Store

__all__ = ["RENAMED", "labels_of"]

_ONTOLOGY = Path(__file__).resolve().parents[4] / "ontology" / "urban.ttl"
_RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
_PROPERTY_KINDS = ("ObjectProperty", "DatatypeProperty")


def labels_of(kind: str, path: Path = _ONTOLOGY) -> tuple[str, ...]:
    """List the labels of an ontology's terms of an OWL kind ("Class", "property"), in order of IRI."""
    store = Store()
    store.load(path=str(path))
    kinds = _PROPERTY_KINDS if kind == "property" else (kind,)
    terms = {
        quad.subject
        for name in kinds
        for quad in store.quads_for_pattern(
            None, _RDF_TYPE, NamedNode(f"http://www.w3.org/2002/07/owl#{name}")
        )
        if isinstance(quad.subject, NamedNode)
    }
    labels = []
    for term in sorted(terms, key=str):
        for quad in store.quads_for_pattern(term, _LABEL, None):
            if isinstance(quad.object, Literal):
                labels.append(quad.object.value)
    return tuple(dict.fromkeys(labels))


RENAMED: dict[str, tuple[str, ...]] = {
    "is a": ("instance of", "type", "kind"),
    "located in": ("location", "situated in", "in city", "place"),
    "part of": ("belongs to", "component of", "is part of"),
    "has part": ("consists of", "includes", "parts"),
    "contains": ("includes", "holds"),
    "adjacent to": ("next to", "borders", "shares border with"),
    "connects": ("links", "joins"),
    "crosses": ("spans", "goes over", "crosses over"),
    "runs through": ("passes through", "flows through"),
    "starts at": ("beginning", "from", "start point"),
    "ends at": ("terminus", "to", "end point"),
    "located on": ("on street", "situated on"),
    "housed in": ("occupies", "building"),
    "served by": ("connecting line", "line"),
    "serves": ("stops at", "area served"),
    "operates": ("runs", "operator of"),
    "operated by": ("operator", "managed by", "run by"),
    "owns": ("owner of", "possesses"),
    "owned by": ("owner", "proprietor"),
    "designed by": ("architect", "designer"),
    "built by": ("builder", "contractor", "constructed by"),
    "founded by": ("founder", "established by"),
    "named after": ("namesake", "eponym"),
    "headquartered in": ("headquarters", "head office", "based in"),
    "member of": ("membership",),
    "affiliated with": ("affiliation",),
    "has function": ("use", "used as"),
    "hosts": ("host of", "tenant"),
    "held at": ("venue", "takes place at"),
    "organized by": ("organizer",),
    "born in": ("birthplace", "place of birth"),
    "died in": ("place of death",),
    "commemorates": ("dedicated to", "in memory of"),
    "replaces": ("predecessor",),
    "replaced by": ("successor building",),
    "succeeded by": ("followed by", "successor"),
    "capital of": ("is capital of",),
    "architectural style": ("style",),
    "established": ("founding date", "inception", "founded in"),
    "opened": ("opening date", "date of opening", "inauguration"),
    "closed": ("closing date",),
    "demolished": ("demolition date",),
    "renovated": ("renovation date",),
    "construction started": ("start of construction",),
    "completed": ("completion date", "year built"),
    "start date": ("begins on",),
    "end date": ("ends on",),
    "former name": ("previous name", "old name"),
    "nickname": ("also called", "byname"),
    "population": ("number of inhabitants",),
    "height": ("how tall",),
    "length": ("how long",),
    "area": ("surface area",),
    "elevation": ("elevation above sea level",),
    "floor count": ("number of floors", "storeys"),
    "capacity": ("number of seats", "maximum capacity"),
    "annual visitors": ("visitors per year",),
    "ridership": ("passengers", "patronage"),
    "student count": ("number of students",),
    "address": ("street address",),
    "website": ("official website",),
}
