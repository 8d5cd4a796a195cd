"""Fields of forms for training: the relations of the ontology by name, and other names for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from pyoxigraph import Literal, NamedNode, Store

from extractors.readers.form import Field, answer, field_of
from ontology.schema import Schema
from research.training.labeled import LabeledSentence, Topic
from server.settings_loading import SHIPPED_ONTOLOGY

_ONTOLOGY = SHIPPED_ONTOLOGY / "urban.ttl"
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


_NAMES = Path(__file__).with_name("renamed.txt")
UNLABELED = 0.4
"""What an unanswered field of an incompletely labeled sentence counts: it may only be missing."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Asked:
    """A field of a training form: its heading, the answer to learn, and what its tokens count."""

    heading: str
    answer: str
    weight: float


def read_names(path: Path = _NAMES) -> dict[str, tuple[str, ...]]:
    """Read the other names of relations; one that begins with ^ asks with the ends swapped."""
    names = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        label, equals, others = line.partition("=")
        if equals and not line.startswith("#"):
            names[label.strip()] = tuple(name.strip() for name in others.split(";"))
    return names


def _asked(
    field: Field, pairs: Sequence[Pair], names: Sequence[str], random: Random, *, rename: float, weight: float
) -> Asked:
    """Show a field, perhaps under another name, perhaps without its classes, perhaps the other way round."""
    if names and random.random() < rename:
        name = random.choice(list(names))
        if name.startswith("^"):
            field = Field(name[1:], field.range, field.domain)
            pairs = [(value, subject) for subject, value in pairs]
        else:
            field = replace(field, label=name)
    if random.random() < 0.12:
        field = replace(field, domain="", range="")
    return Asked(field.heading, answer(pairs), weight)


class TopicFields:
    """Draws the fields for a sentence of a Text2KGBench ontology."""

    def __init__(self, random: Random, topics: Sequence[Topic], *, rename: float = 0.4) -> None:
        self._random = random
        self._names = read_names()
        self._rename = rename
        self._all = [field for topic in topics for field in topic.fields]

    def draw(self, topic: Topic, sentence: LabeledSentence) -> tuple[Asked, ...]:
        """Ask what is labeled, up to four fields that are not, and sometimes a foreign one."""
        random = self._random
        known = {field.label: field for field in topic.fields}
        shown = [
            (known.get(label, Field(label)), pairs, 1.0) for label, pairs in sentence.pairs.items() if pairs
        ]
        silent = [
            field
            for field in topic.fields
            if field.label not in sentence.pairs and field.label not in sentence.unknown
        ]
        silent = list({field.label: field for field in silent}.values())
        weight = 1.0 if topic.complete else UNLABELED
        shown += [(field, (), weight) for field in random.sample(silent, min(4, len(silent)))]
        if random.random() < 0.5:
            foreign = random.choice(self._all)
            if foreign.label not in known:
                shown.append((foreign, (), weight))
        return tuple(
            _asked(
                field,
                pairs,
                self._names.get(field.label, ()),
                random,
                rename=self._rename,
                weight=counts,
            )
            for field, pairs, counts in shown
        )


class CityFields:
    """Draws the fields for a composed passage, whose facts are all known."""

    def __init__(self, random: Random, schema: Schema, topics: Mapping[str, Sequence[str]]) -> None:
        self._random = random
        self._schema = schema
        self._topics = topics
        self._fields = {
            term.label: field_of(schema, term)
            for term in schema.properties.values()
            if term.label and not term.borrowed
        }
        self._fields.setdefault("is a", Field("is a"))

    def draw(self, text: str, facts: Sequence[tuple[str, str, str]], topic: str | None) -> tuple[Asked, ...]:
        """Ask about every relation that the text states, and about as many that it does not."""
        random = self._random
        pairs: dict[str, list[Pair]] = {}
        for subject, relation, value in facts:
            pairs.setdefault(relation, []).append((subject, value))
        ordered = {
            relation: sorted(found, key=lambda pair: (text.find(pair[0]), text.find(pair[1])))
            for relation, found in pairs.items()
        }
        if topic is None:
            near = [term.label for term in self._schema.snippet(text, 1, 14).properties]
            far = list(self._fields)
        else:
            near = far = list(self._topics[topic])
        silent = [label for label in dict.fromkeys(near) if label not in ordered and label != "is a"]
        others = [label for label in far if label not in ordered and label not in silent and label != "is a"]
        chosen = random.sample(silent, min(4, len(silent))) + random.sample(others, min(2, len(others)))
        if topic is None and "is a" not in ordered:
            chosen.append("is a")
        rename = 0.3 if topic is None else 0.15
        return tuple(
            _asked(
                self._fields.get(label, Field(label)) if topic is None else Field(label),
                ordered.get(label, ()),
                RENAMED.get(label, ()),
                random,
                rename=rename,
                weight=1.0,
            )
            for label in [*ordered, *chosen]
        )
