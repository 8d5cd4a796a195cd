"""Names and passages for training, composed of hand-written pools, frames and patterns.

A pool is divided by hash into a training and a validation share, so validation sees no training name.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random


def held_out(words: str) -> bool:
    """Say whether a pool entry or a frame belongs to validation (about one in eight), by its hash."""
    return zlib.crc32(words.encode()) % 8 == 0


@dataclass(frozen=True)
class Name:
    """A name as facts use it, whether prose puts "the" before it, and the slot type it was made for."""

    text: str
    article: bool = False
    kind: str = ""

    def in_prose(self) -> str:
        return f"the {self.text}" if self.article else self.text


def _sections(file: str) -> dict[str, tuple[str, ...]]:
    """Read a file of [heading] sections whose entries stand between semicolons."""
    sections: dict[str, str] = {}
    heading = ""
    for line in (_FRAMES / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            heading = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            sections[heading] = f"{sections.get(heading, '')} {line}"
    return {name: tuple(part.strip() for part in text.split(";")) for name, text in sections.items()}


_FRAMES = Path(__file__).resolve().parent
_ALL = _sections("pools.txt")
_PLAIN = ("city", "country", "region", "district", "river", "water", "island", "style", "function")
_PARTS = ("city", "district", "surname", "given", "word", "saint", "thing", "adj", "noun", "river", "region")
_PATTERNS = {
    name.removesuffix(" the"): (entries, name.endswith(" the"))
    for name, entries in _sections("patterns.txt").items()
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip
_NUMBER_WORDS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "eight",
    "nine",
    "twelve",
    "fifteen",
    "twenty",
    "forty",
)


class NameMaker:
    """Makes a name of a type on demand, from the training or the validation share of every pool."""

    def __init__(self, random: Random, *, validation: bool) -> None:
        self._random = random
        self._validation = validation

    def _one(self, pool: Sequence[str]) -> str:
        share = [word for word in pool if held_out(word) == self._validation]
        return self._random.choice(share or pool)

    def _from(self, *patterns: str) -> str:
        pattern = self._random.choice(patterns)
        pattern = pattern.replace("<n>", str(self._random.randint(1, 1400)))
        for slot in _PARTS:
            while f"<{slot}>" in pattern:
                word = self._one(_ALL[slot]).removeprefix("the ")
                pattern = pattern.replace(f"<{slot}>", word, 1)
        return pattern

    def make(self, kind: str) -> Name:
        """Make one name (or phrase, number, date) of the slot type `kind`."""
        return replace(self._make(kind), kind=kind)

    def _make(self, kind: str) -> Name:
        if kind.endswith("_kind"):
            return Name(self._one(_ALL[kind]))
        if kind in _PLAIN:
            word = self._one(_ALL[kind])
            return Name(word.removeprefix("the "), word.startswith("the ") or kind == "river")
        if kind in _PATTERNS:
            patterns, article = _PATTERNS[kind]
            text = self._from(*patterns)
            return Name(text, article and self._random.random() < 0.75)
        return Name(_MEASURES[kind](self._random))


def _year(random: Random) -> str:
    return str(
        random.choice((random.randint(1180, 1799), random.randint(1800, 2023), random.randint(1850, 2023)))
    )


def _date(random: Random) -> str:
    form = random.random()
    if form < 0.55:
        return _year(random)
    if form < 0.7:
        return f"{random.choice(_MONTHS)} {_year(random)}"
    return _day(random)


def _day(random: Random) -> str:
    day, month, year = random.randint(1, 28), random.choice(_MONTHS), _year(random)
    return f"{day} {month} {year}" if random.random() < 0.5 else f"{month} {day}, {year}"


def _people(random: Random) -> str:
    number = random.choice(
        (random.randint(800, 9999), random.randint(10_000, 999_999), random.randint(10, 950) * 1000)
    )
    if random.random() < 0.12:
        return f"{random.randint(11, 99) / 10} million"
    return f"{number:,}"


_MEASURES: dict[str, Callable[[Random], str]] = {
    "year": _year, "date": _date, "day": _day, "people": _people,
    "metres": lambda r: f"{r.choice((r.randint(18, 420), r.randint(200, 4200) / 10))} "
        + r.choice(("metres", "meters", "m", "metres", "feet", "ft")),
    "kilometres": lambda r: f"{r.choice((r.randint(11, 990) / 10, r.randint(2, 140)))} "
        + r.choice(("kilometres", "km", "kilometers", "miles", "km", "metres")),
    "square": lambda r: f"{r.choice((r.randint(11, 990) / 10, r.randint(2, 3400)))} "
        + r.choice(("square kilometres", "km²", "hectares", "acres", "square miles", "ha")),
    "small": lambda r: str(r.randint(3, 98)) if r.random() < 0.8 else r.choice(_NUMBER_WORDS),
    "seats": lambda r: f"{r.randint(3, 990) * 100:,}",
    "postcode": lambda r: r.choice(
        (f"{r.randint(10000, 99999)}", f"{r.randint(1000, 9999)} {r.choice('ABX')}C")
    ),
    "phone": lambda r: f"+{r.randint(20, 98)} {r.randint(20, 99)} "
        + f"{r.randint(100, 999)} {r.randint(1000, 9999)}",
    "n": lambda r: str(r.randint(1, 1400)),
}  # fmt: skip


_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_IN_DAY = re.compile(r"\bin (\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4})")
Fact = tuple[str, str, str]

GROUPS: dict[str, tuple[str, ...]] = {
    "university": ("institution", "place"),
    "museum": ("institution", "built", "place"),
    "library": ("institution", "built", "place"),
    "theater": ("built", "venue", "place"),
    "hospital": ("institution", "place"),
    "church": ("built", "place"),
    "station": ("station", "station", "built", "place"),
    "bridge": ("bridge", "bridge", "built", "place"),
    "tower": ("built", "place"),
    "stadium": ("venue", "built", "place"),
    "park": ("park", "place"),
    "street": ("road", "place"),
    "line": ("line",),
    "area": ("area", "place"),
    "company": ("company",),
    "event": ("event",),
    "monument": ("monument", "built", "place"),
    "person": ("person",),
    "team": ("team",),
}
_NAME_OF = {"area": "district"}
IS_A = "is a"
_KIND_LINES = (_FRAMES / "kinds.txt").read_text(encoding="utf-8").splitlines()
KINDS = {
    slot.strip(): label.strip()
    for slot, equals, label in (line.partition("=") for line in _KIND_LINES if not line.startswith("#"))
    if equals
}
"""Slot types and the class label that names of the type get where the text does not say their kind."""


@dataclass(frozen=True)
class Passage:
    """A text, what it says, and the topic whose relations it draws on (None: the city's own ontology)."""

    text: str
    facts: tuple[Fact, ...]
    topic: str | None
    frames: tuple[str, ...]


@dataclass(frozen=True)
class _Clause:
    form: str
    text: str
    facts: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class _Whole:
    topic: str
    text: str
    facts: tuple[tuple[str, str, str], ...]


def _read_clauses(text: str) -> dict[str, list[_Clause]]:
    groups: dict[str, list[_Clause]] = {}
    current: list[_Clause] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            current = groups.setdefault(line.strip("[]"), [])
            continue
        form, rest = line.split(" ", 1)
        words, _, right = rest.rpartition("|")
        facts = []
        for fact in filter(None, (part.strip() for part in right.split(";"))):
            relation, value = fact.split("=")
            subject, dot, name = relation.partition(".")
            facts.append((subject, name, value) if dot else ("S", relation, value))
        current.append(_Clause(form, words.strip(), tuple(facts)))
    return groups


def _read_wholes(text: str) -> list[_Whole]:
    wholes: list[_Whole] = []
    topic = ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            topic = line.strip("[]")
        elif line.startswith("  "):
            subject, relation, value = (part.strip() for part in line.split("|"))
            last = wholes.pop()
            wholes.append(_Whole(last.topic, last.text, (*last.facts, (subject, relation, value))))
        else:
            wholes.append(_Whole(topic, line.strip(), ()))
    return wholes


def _tidy(text: str) -> str:
    """Settle "a(n)" and the capital at the start of each sentence."""

    def article(match: re.Match[str]) -> str:
        word = match.group(1).lower()
        vowel = word[:1] in "aeiou" and not word.startswith(("uni", "use", "euro", "one"))
        return f"{'an' if vowel else 'a'} {match.group(1)}"

    text = _IN_DAY.sub(r"on \1", text)
    text = re.sub(r"\ba\(n\) (\S+)", article, text)
    return re.sub(r"(^|[.!?]\"? )(the|a|an)\b", lambda m: m.group(1) + m.group(2).capitalize(), text)


def _classified(facts: Sequence[Fact], names: Iterable[Name]) -> tuple[Fact, ...]:
    """Add what kind of thing each name is where the text does not say it, next to its first mention."""
    kinds = {name.text: KINDS[name.kind] for name in names if name.kind in KINDS}
    open_ = {text for text in kinds if not any(s == text and r == IS_A for s, r, _ in facts)}
    found: list[Fact] = []
    for subject, relation, value in facts:
        if subject in open_:
            found.append((subject, IS_A, kinds[subject]))
        found.append((subject, relation, value))
        if value in open_ and relation != IS_A:
            found.append((value, IS_A, kinds[value]))
        open_ -= {subject, value}
    return tuple(found)


class Composer:
    """Makes passages from the training frames, or from those held out for validation."""

    def __init__(self, random: Random, *, validation: bool, long: float = 0.0) -> None:
        """Read the frames; `long` is the share of passages that are several after one another."""
        self._random = random
        self._long = long
        self._names = NameMaker(random, validation=validation)
        clauses = _read_clauses((_FRAMES / "clauses.txt").read_text(encoding="utf-8"))
        self._clauses = {
            group: [clause for clause in found if held_out(clause.text) == validation]
            for group, found in clauses.items()
        }
        wholes = [
            whole
            for file in ("texts.txt", "paragraphs.txt")
            for whole in _read_wholes((_FRAMES / file).read_text(encoding="utf-8"))
        ]
        self.topics: dict[str, list[str]] = {}
        for whole in wholes:
            relations = self.topics.setdefault(whole.topic, [])
            relations += [fact[1] for fact in whole.facts if fact[1] not in relations]
        self._wholes = [whole for whole in wholes if held_out(whole.text) == validation]

    def passage(self) -> Passage:
        """Make one passage: a short one, or several after one another, as untidy texts are."""
        made = self._short()
        if self._random.random() >= self._long:
            return made
        words = self._random.randint(40, 110)
        while len(made.text.split()) < words:
            made = self._joined(made, self._short(cities=True))
        return made

    def _short(self, *, cities: bool = False) -> Passage:
        """Compose a passage, fill in a whole one, or both; `cities`: of none of the other topics."""
        draw = self._random.random()
        if draw < 0.5:
            made = self._composed()
        elif draw < 0.67:
            made = self._whole("city")
        elif draw < 0.76:
            made = self._whole("city negative")
        elif draw < 0.88:
            made = self._whole("city nothing")
        elif cities:
            made = self._whole("city")
        else:
            topics = {whole.topic for whole in self._wholes if not whole.topic.startswith("city")}
            return self._whole(self._random.choice(sorted(topics)))
        extra = self._random.random()
        if extra < 0.06:
            return self._joined(made, self._whole("city nothing"))
        if extra < 0.12:
            return self._joined(made, self._whole("city negative"))
        if extra < 0.2 and len(made.text) < 220:
            return self._joined(made, self._whole("city"))
        return made

    def _joined(self, first: Passage, second: Passage) -> Passage:
        if self._random.random() < 0.35:
            first, second = second, first
        facts = tuple(dict.fromkeys(first.facts + second.facts))
        return Passage(f"{first.text} {second.text}", facts, first.topic, first.frames + second.frames)

    def _fill(self, text: str, slots: dict[str, Name], kind: str | None = None) -> str:
        def put(match: re.Match[str]) -> str:
            name, slot_type = match.groups()
            if name not in slots:
                taken = {slot.text for slot in slots.values()}
                wanted = kind or "tower"
                for _ in range(20):
                    made = self._names.make(f"{wanted}_kind" if slot_type == "KIND" else slot_type)
                    if made.text not in taken:
                        break
                slots[name] = made
            return slots[name].in_prose()

        return _SLOT.sub(put, text)

    def _whole(self, topic: str) -> Passage:
        whole = self._random.choice([whole for whole in self._wholes if whole.topic == topic])
        slots: dict[str, Name] = {}
        text = _tidy(self._fill(whole.text, slots))

        def value(side: str) -> str:
            if side in slots:
                return slots[side].text
            return _SLOT.sub(lambda m: slots[m.group(1)].in_prose(), side)

        facts = tuple((value(s), relation, value(o)) for s, relation, o in whole.facts)
        if not topic.startswith("city"):
            return Passage(text, facts, topic, (whole.text,))
        return Passage(text, _classified(facts, slots.values()), None, (whole.text,))

    def _composed(self) -> Passage:
        random = self._random
        kind = random.choice([k for k in GROUPS if any(self._clauses.get(g) for g in GROUPS[k])])
        subject = self._names.make(_NAME_OF.get(kind, kind))
        self._used: set[str] = set()
        self._facts: list[Fact] = []
        self._frames: list[str] = []
        self._kind, self._subject = kind, subject
        self._made = [subject]
        self._pronoun = random.choice(("he", "she")) if kind == "person" else "it"
        sentences = [self._first()]
        for _ in range(random.choices((0, 1, 2), (0.36, 0.46, 0.18))[0]):
            sentence = self._next()
            if sentence:
                sentences.append(sentence)
        text = _tidy(" ".join(sentences))
        facts = _classified(tuple(dict.fromkeys(self._facts)), self._made)
        return Passage(text, facts, None, tuple(self._frames))

    def _clause(self, form: str, *, lead: bool = False) -> str | None:
        """Fill a clause of a form whose relations are not said yet; None when nothing is left."""
        pool = [
            clause
            for group in GROUPS[self._kind]
            for clause in self._clauses.get(group, ())
            if clause.form == form and not {fact[1] for fact in clause.facts if fact[0] == "S"} & self._used
        ]
        if lead:
            pool = [clause for clause in pool if any(fact[1] == "is a" for fact in clause.facts)] or pool
        if not pool:
            return None
        clause = self._random.choice(pool)
        slots = {"S": self._subject}
        text = self._fill(clause.text, slots, self._kind)
        self._made += slots.values()
        for subject, relation, value in clause.facts:
            self._facts.append((slots[subject].text, relation, slots[value].text))
            if subject == "S":
                self._used.add(relation)
        if not clause.facts:
            self._used.add(clause.text)
        self._frames.append(clause.text)
        return text

    def _predicates(self, *, lead: bool = False) -> str | None:
        first = self._clause("vp", lead=lead)
        if first is None:
            return None
        if self._random.random() < 0.3:
            second = self._clause("vp")
            if second:
                joint = (
                    " and " if self._random.random() < 0.75 else self._random.choice((", and it ", ", and "))
                )
                if self._kind == "person":
                    joint = joint.replace("it", self._pronoun)
                return first + joint + second
        return first

    def _first(self) -> str:
        subject = self._subject.in_prose()
        draw = self._random.random()
        if draw < 0.16:
            opening = self._clause("pp")
            rest = self._predicates()
            if opening and rest:
                return f"{opening}, {subject} {rest}."
            return (
                f"{opening}, {subject} remains well known."
                if opening
                else f"{subject} {rest or 'is well known'}."
            )
        if draw < 0.32:
            aside = self._clause("ap")
            rest = self._predicates()
            if aside:
                return f"{subject}, {aside}, {rest or 'is well known'}."
            return f"{subject} {rest or 'is well known'}."
        rest = self._predicates(lead=draw < 0.75)
        return f"{subject} {rest or 'is well known'}."

    def _next(self) -> str | None:
        random = self._random
        names = [self._pronoun.capitalize()] * 4 + [self._subject.in_prose()]
        if self._kind not in ("person", "area", "team"):
            names += [f"The {'building' if self._kind in ('tower', 'church') else self._kind}"] * 2
        subject = random.choice(names)
        draw = random.random()
        if draw < 0.3:
            opening = self._clause("pp")
            rest = self._predicates()
            if opening and rest:
                lowered = subject if subject == self._subject.in_prose() else subject[0].lower() + subject[1:]
                return f"{opening}, {lowered} {rest}."
            if opening:
                return f"{opening}, it is still in use."
            return f"{subject} {rest}." if rest else None
        if draw < 0.48:
            own = self._clause("own")
            if own:
                owner = {"he": "His", "she": "Her"}.get(self._pronoun, "Its")
                return f"{owner} {own}."
        rest = self._predicates()
        return f"{subject} {rest}." if rest else None
