"""Which relations a training example offers: the right ones among others, sometimes under other names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

from pyoxigraph import Literal, NamedNode, Store

__all__ = ["RENAMED", "RelationOffer", "labels_of"]

_ONTOLOGY = Path(__file__).resolve().parents[3] / "ontology" / "urban.ttl"
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


class RelationOffer:
    """Draws the list of relations for an example."""

    def __init__(self, random: Random, urban: Sequence[str]) -> None:
        self._random = random
        self._urban = tuple(label for label in urban if label != "is a")

    def draw(
        self, needed: Iterable[str], topic: Sequence[str] | None
    ) -> tuple[list[str], set[str], dict[str, str]]:
        """Give the names to offer, the needed relations left out, and the name each relation goes by.

        `topic` lists the relations of another domain; None means the city's own ontology.
        """
        random = self._random
        wanted = list(dict.fromkeys(needed))
        absent: set[str] = set()
        fate = random.random()
        if wanted and fate < 0.04:
            absent = set(wanted)
        elif len(wanted) > 1 and fate < 0.16:
            absent = {random.choice(wanted)}
        offered = [relation for relation in wanted if relation not in absent]
        # The reply's schema always allows "is a" for the city's own ontology.
        if topic is None and "is a" not in absent and "is a" not in offered:
            offered.insert(0, "is a")
        size = random.randint(6, 12) if random.random() < 0.45 else random.randint(12, 21)
        others = [
            r for r in (self._urban if topic is None else topic) if r not in offered and r not in absent
        ]
        random.shuffle(others)
        if topic is not None:
            others += random.sample(self._urban, 4)
        for relation in others[: max(0, min(size, 21) - len(offered))]:
            if relation not in offered and relation not in absent:
                offered.append(relation)
        names = {relation: relation for relation in offered}
        if topic is None and random.random() < 0.22:
            for relation in offered:
                other = random.choice(RENAMED.get(relation, (relation,)))
                if random.random() < 0.6 and other not in names.values():
                    names[relation] = other
        shown = [relation for relation in offered if relation != "is a"]
        random.shuffle(shown)
        if "is a" in offered:
            shown.insert(0 if random.random() < 0.85 else random.randint(0, len(shown)), "is a")
        return [names[relation] for relation in shown], absent, names
