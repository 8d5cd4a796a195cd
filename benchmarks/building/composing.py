"""A made-up country, and texts about it: what each text states is known, and so is what the country is like.

Cities, places, people and companies have invented names, no two alike but for a few namesakes: places of one
name in two cities. Every fact of the country is one that some text states, or that names say themselves
(what kind of thing each is). The sentences are of this program alone; no model was trained on them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

__all__ = ["IS_A", "Country", "Document", "Fact", "compose"]

Fact = tuple[str, str, str]
"""Subject, relation and object, in words."""

IS_A: Final = "is a"
_SLOT: Final = re.compile(r"\{(\w+)\}")
_STARTS: Final = (
    "Abber", "Alver", "Bast", "Bellen", "Bor", "Brack", "Calder", "Cor", "Dal", "Drum", "Eller", "Esk",
    "Fal", "Garn", "Gil", "Hal", "Hather", "Ister", "Kel", "Kirk", "Lang", "Lor", "Mal", "Mer", "Nor",
    "Oster", "Pel", "Quar", "Ram", "Ros", "Sel", "Skel", "Tar", "Thorn", "Ul", "Ver", "Wal", "Wes",
    "Yar", "Zen",
)  # fmt: skip
_CITY_ENDS: Final = (
    "brook", "bury", "by", "caster", "cliffe", "dean", "fell", "gate", "haven", "holm", "hurst", "mouth",
    "pool", "ridge", "stoke", "ton", "wath", "worth",
)  # fmt: skip
_SURNAME_ENDS: Final = (
    "ander", "berg", "court", "dahl", "eaux", "field", "gren", "ham", "ini", "kamp", "land", "man", "ner",
    "ov", "quist", "rick", "sen", "son", "stein", "strom", "vall", "ward", "well", "zak",
)  # fmt: skip
_GIVEN: Final = (
    "Ada", "Albert", "Beatrice", "Carl", "Clara", "Daniel", "Edith", "Emil", "Flora", "George", "Hannah",
    "Hugo", "Ida", "Jacob", "Julia", "Karl", "Laura", "Leon", "Marta", "Nils", "Olga", "Oscar", "Paula",
    "Peter", "Rosa", "Samuel", "Sofia", "Thomas", "Vera", "Walter",
)  # fmt: skip
_COUNTRIES: Final = ("Estmark", "Norvania", "Sorland", "Velmora", "Kestria", "Orlund", "Tavonia", "Drelland")
_COMPANY_ENDS: Final = ("Holdings", "Construction", "Properties", "Industries", "Partners", "Works")

#: The kinds of places: the word of a name that says it, and the groups of sentences that suit it.
_KINDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "museum": ("Museum", ("built", "visited", "founded")),
    "library": ("Library", ("built", "founded")),
    "theater": ("Theater", ("built", "seats")),
    "hospital": ("Hospital", ("built", "founded")),
    "church": ("Church", ("built",)),
    "park": ("Park", ("visited",)),
    "bridge": ("Bridge", ("built", "bridge")),
    "stadium": ("Stadium", ("built", "seats")),
    "university": ("University", ("founded", "students")),
    "hotel": ("Hotel", ("built", "tall")),
    "skyscraper": ("Tower", ("built", "tall")),
    "school": ("School", ("founded",)),
    "zoo": ("Zoo", ("visited",)),
    "market": ("Market", ("visited",)),
}
#: The first sentence about a place says what it is. `@` stands for the place; facts are "relation=slot".
_FIRST: Final = (
    ("@ is a {kind} in {city}.", "is a=kind; located in=city"),
    ("@ is a well-known {kind} in {city}.", "is a=kind; located in=city"),
    ("@, a {kind} in {city}, was opened in {opened}.", "is a=kind; located in=city; opened=opened"),
    ("Located in {city}, @ is a {kind} named after {honored}.",
     "is a=kind; located in=city; named after=honored"),
    ("@ is a {kind} on {street} in {city}.", "is a=kind; located on=street; located in=city"),
)  # fmt: skip
_LATER: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "any": (
        ("@ was opened in {opened}.", "opened=opened"),
        ("@ is owned by {owner}.", "owned by=owner"),
        ("@ is operated by {operator}.", "operated by=operator"),
        ("@ is named after {honored}.", "named after=honored"),
        ("@ was formerly known as {former}.", "former name=former"),
        ("@ is located on {street}.", "located on=street"),
        ("@ was renovated in {renovated}.", "renovated=renovated"),
    ),
    "built": (
        ("@ was designed by {architect}.", "designed by=architect"),
        ("@ was designed by {architect} and completed in {completed}.",
         "designed by=architect; completed=completed"),
        ("@ was built by {builder} and completed in {completed}.", "built by=builder; completed=completed"),
        ("Construction of @ started in {started}.", "construction started=started"),
    ),
    "tall": (
        ("@ is {height} tall.", "height=height"),
        ("@ has {floors} floors and is {height} tall.", "floor count=floors; height=height"),
    ),
    "seats": (("@ has a capacity of {capacity} people.", "capacity=capacity"),),
    "visited": (("@ attracts {visitors} visitors a year.", "annual visitors=visitors"),),
    "founded": (("@ was founded by {founder}.", "founded by=founder"),),
    "students": (("@ has {students} students.", "student count=students"),),
    "bridge": (("@ crosses the {river}.", "crosses=river"),),
}  # fmt: skip
_OF_CITIES: Final = (
    ("@ is a city in {country}.", "is a=kind; located in=country"),
    ("@ has a population of {population}.", "population=population"),
)
_OF_PEOPLE: Final = (("@ was born in {city}.", "born in=city"),)
#: Ends of a relation that are things, and what kind of thing each is.
_THINGS: Final[Mapping[str, str]] = {
    "city": "city", "country": "country", "street": "street", "river": "river", "owner": "company",
    "operator": "company", "builder": "company", "architect": "person", "founder": "person",
    "honored": "person",
}  # fmt: skip


@dataclass(frozen=True)
class Document:
    """A text, and what it states."""

    text: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class _Thing:
    name: str
    kind: str
    groups: tuple[str, ...]
    values: Mapping[str, str]


@dataclass
class Country:
    """What is true: the facts that texts state, and the kind of each name.

    `namesakes` are names of two places in two cities.
    """

    facts: set[Fact] = field(default_factory=set)
    kinds: dict[str, str] = field(default_factory=dict)
    namesakes: set[str] = field(default_factory=set)


def compose(
    count: int, *, sentences: Sequence[int] = (1, 2, 2, 3), seed: int = 11
) -> tuple[list[Document], Country]:
    """So many documents, no two alike, of as many sentences as drawn; the same for the same seed."""
    composer = _Composer(random.Random(seed), count)
    found: dict[str, Document] = {}
    for document in composer.documents(sentences):
        found.setdefault(document.text, document)
        if len(found) == count:
            break
    return list(found.values()), composer.country


class _Composer:
    """Makes a country of a size that fits the number of documents, and texts about it without end."""

    def __init__(self, chance: random.Random, count: int) -> None:
        self._chance = chance
        self.country = Country()
        self._cities = self._city_names()[: max(4, count // 40)]
        self._stems = _shuffled(chance, (a + b for a, b in product(_STARTS, _SURNAME_ENDS)))
        self._people = _shuffled(chance, (f"{g} {s}" for g, s in product(_GIVEN, self._stems[:200])))
        self._people = self._people[: max(6, count // 6)]
        self._companies = [
            f"{stem} {end}" for stem, end in product(self._stems[200:600], _COMPANY_ENDS)
        ]  # fmt: skip
        self._companies = _shuffled(chance, self._companies)[: max(4, count // 20)]
        self._streets = [
            f"{stem} Street" for stem in self._stems[: max(4, min(len(self._stems), count // 20))]
        ]
        self._rivers = [f"{stem} River" for stem in self._stems[-max(2, min(200, count // 100)) :]]
        self._names = self._place_names()
        self._places: list[_Thing] = []
        self._wanted = max(3, count * 2 // 7)
        self._introduced: set[str] = set()

    def documents(self, sentences: Sequence[int]) -> Iterator[Document]:
        """A place comes up first with what it is, now and then among places that are known."""
        while True:
            share = self._chance.random()
            if share < 0.06:
                yield self._about_city()
            elif share < 0.1:
                yield self._about_person()
            elif not self._places or (len(self._places) < self._wanted and share < 0.42):
                place = self._new_place()
                self._places.append(place)
                yield self._about(place, True, self._chance.choice(sentences))
            else:
                yield self._about(self._chance.choice(self._places), False, self._chance.choice(sentences))

    def _new_place(self) -> _Thing:
        """Every fiftieth has the name of a place in another city."""
        before = self._chance.choice(self._places) if self._places and self._chance.random() < 0.02 else None
        if before is not None and before.name not in self.country.namesakes:
            city = next(one for one in self._cities if one != before.values["city"])
            self.country.namesakes.add(before.name)
            return _Thing(
                before.name, before.kind, before.groups, {**self._values(before.kind), "city": city}
            )
        name, kind = next(self._names)
        return _Thing(name, kind, _KINDS[kind][1], self._values(kind))

    def _values(self, kind: str) -> dict[str, str]:
        chance = self._chance
        started = chance.randrange(1850, 1990)
        completed = started + chance.randrange(1, 8)
        opened = completed + chance.randrange(0, 3)
        people = chance.sample(self._people, 3)
        return {
            "kind": kind,
            "city": chance.choice(self._cities),
            "street": chance.choice(self._streets),
            "river": chance.choice(self._rivers),
            "owner": chance.choice(self._companies),
            "operator": chance.choice(self._companies),
            "builder": chance.choice(self._companies),
            "architect": people[0],
            "founder": people[1],
            "honored": people[2],
            "started": str(started),
            "completed": str(completed),
            "opened": str(opened),
            "renovated": str(opened + chance.randrange(12, 30)),
            "former": f"{chance.choice(self._stems)} Hall",
            "height": f"{chance.randrange(40, 280)} meters",
            "floors": str(chance.randrange(9, 70)),
            "capacity": _number(chance.randrange(4, 700) * 100),
            "visitors": _number(chance.randrange(10, 900) * 1000),
            "students": _number(chance.randrange(10, 300) * 100),
        }

    def _about(self, place: _Thing, first: bool, sentences: int) -> Document:
        later = [one for group in ("any", *place.groups) for one in _LATER[group]]
        chosen = self._chance.sample(later, min(len(later), sentences))
        if first:
            chosen = [self._chance.choice(_FIRST), *chosen[1:]]
        return self._document(place, chosen)

    def _about_city(self) -> Document:
        city = self._chance.choice(self._cities)
        drawn = random.Random(city)
        population = _number(drawn.randrange(20, 3000) * 1000)
        values = {"kind": "city", "country": drawn.choice(_COUNTRIES), "population": population}
        return self._document(_Thing(city, "city", (), values), [self._chance.choice(_OF_CITIES)])

    def _about_person(self) -> Document:
        person = self._chance.choice(self._people)
        values = {"city": random.Random(person).choice(self._cities)}
        return self._document(_Thing(person, "person", (), values), [self._chance.choice(_OF_PEOPLE)])

    def _document(self, thing: _Thing, frames: Sequence[tuple[str, str]]) -> Document:
        """Fill the frames in; what they state becomes true."""
        self.country.kinds[thing.name] = thing.kind
        texts, facts = [], []
        for text, stated in frames:
            texts.append(_SLOT.sub(lambda slot: thing.values[slot[1]], text.replace("@", thing.name)))
            for fact in stated.split("; "):
                relation, slot = fact.split("=")
                facts.append((thing.name, relation, thing.values[slot]))
                if slot in _THINGS:
                    self.country.kinds[thing.values[slot]] = _THINGS[slot]
        self.country.facts.update(facts)
        return Document(" ".join(texts), tuple(dict.fromkeys(facts)))

    def _place_names(self) -> Iterator[tuple[str, str]]:
        kinds = list(_KINDS)
        for round_ in range(len(kinds)):
            for number, stem in enumerate(self._stems):
                kind = kinds[(number + round_) % len(kinds)]
                yield f"{stem} {_KINDS[kind][0]}", kind

    def _city_names(self) -> list[str]:
        return _shuffled(self._chance, (a + b for a, b in product(_STARTS, _CITY_ENDS)))


def _shuffled(chance: random.Random, names: Iterator[str] | list[str]) -> list[str]:
    found = list(names)
    chance.shuffle(found)
    return found


def _number(value: int) -> str:
    return f"{value:,}"
