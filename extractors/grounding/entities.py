"""The names in one text and the entity of each: a known one, or a new one with a minted IRI.

Within a text a name means one thing. It is linked once, with the classes that the model said of it or that
the first statement about it demands, and every statement that uses the name then shares the answer.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pyoxigraph import NamedNode

from extractors.candidates import AMBIGUOUS_NAME, NAMESAKE, NOT_A_NAME, Problem
from extractors.english.people import OPENING_PERSONS, is_given_name
from extractors.grounding.linking import QUALIFIERS, Link, Linker, LinkReason, normalize
from extractors.grounding.mentions import GroundedText
from ontology.schema import Schema

_LONGEST_SLUG = 60
_HASH_DIGITS = 8


def slug(words: str) -> str:
    """Return words as lower-case ASCII joined by hyphens; empty when nothing of them can be so written."""
    plain = unicodedata.normalize("NFKD", words.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"['`]", "", plain)).strip("-")[:_LONGEST_SLUG].strip("-")


class IriMinter:
    """Mints IRIs under a base: the same name gives the same IRI, and never one that is in use.

    The hash after the readable part separates names that look alike in ASCII. It depends on the name and
    on nothing else, so that extracting a text again before anything was committed changes nothing.
    """

    def __init__(self, base: str, exists: Callable[[NamedNode], bool]) -> None:
        self.base = base
        self._exists = exists

    def entity(self, name: str) -> NamedNode:
        """Mint the IRI of a new entity of this name."""
        key = normalize(name) or name
        attempt = 0
        while True:
            seed = key if attempt == 0 else f"{key}\n{attempt}"
            digest = hashlib.sha256(seed.encode()).hexdigest()[:_HASH_DIGITS]
            iri = NamedNode(f"{self.base}{slug(name) or 'entity'}-{digest}")
            if not self._exists(iri):
                return iri
            attempt += 1

    def term(self, words: str) -> NamedNode:
        """Mint the IRI under which an unknown relation is proposed; the same words give the same one."""
        digest = hashlib.sha256(words.encode()).hexdigest()[:_HASH_DIGITS]
        return NamedNode(f"{self.base}term/{slug(words) or digest}")


_DETERMINER = re.compile(
    r"(?:the|an?|this|that|these|those|its|his|her|their|our|both|each|every|another|such)\s+", re.IGNORECASE
)
_WHEREABOUTS = re.compile(r"(?P<name>\S.*?),?\s+(?:in|near)\s+(?P<place>\S.*)")
_PART_OF = re.compile(r"(?P<part>\S.*\s(?:Side|End|Quarter|Neighbou?rhood)) of \S.*")
_KIND_OF = re.compile(r"[^\W\d_a-z]\S*(?: \S+)*? [a-z]{4,} of (?P<whole>[^\W\d_a-z].*)")
_POSSESSOR = re.compile(r"(?P<owner>\w[^'’,]*)['’]s (?P<thing>\S.*)")
_COMMON: Final = frozenset(
    """cross kitchen wharf seat gate end head corner row walk hill green bay island isle point landing
    creek quay rock nose leap cave cove mill garden gardens bridge store stores theatre theater
    hotel bar pub cafe inn arms court lane yard way castle tower house hall church chapel cottage
    farm field fields ground grounds wood woods ford ferry hole peak pass well wells drop copse lock
    dyke wall stairs steps market college school hospital home club fort folly palace tomb tavern
    alley islands beach mount mountain column arch obelisk pillar needle statue memorial tomb temple
    shrine throne chair fountain spring mansion""".split()
)
"""Words that are a name only with their owner: "Magellan's Cross"."""
_TOWNS: Final = frozenset(
    "charlotte florence milan salvador santiago sofia victoria louis petersburg gallen moritz".split()
)
"""Towns that are named like people or saints: "Milan's Elm Tower" is the Elm Tower."""
_ADDRESS = re.compile(r"[^,]+ \d+[a-zA-Z]?(?:[-–]\d+)?, \S")
_NUMBERS = re.compile(r"[\d\s.,–-]{5,}")
_OWN_PART = re.compile(r"\sand (?:its|his|her|their)\s")
_OF_SAINTS: Final = 2
_STREETS: Final = frozenset({"road", "street", "lane", "avenue", "row"})
_CAPITALIZED_NEXT: Final = re.compile(r"[ -][^\W\d_a-z]")
_LINKING: Final = frozenset("of in at on de du del der des la le for and near".split())
_PRONOUNS: Final = (
    "it its he she they them him her this that these those which who we i you itself himself herself "
    "themselves here there one none"
)
_LABELS: Final = frozenset(
    NamedNode(iri)
    for iri in (
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        "http://www.w3.org/2004/02/skos/core#altLabel",
        "http://www.w3.org/2004/02/skos/core#hiddenLabel",
        "https://schema.org/alternateName",
        "http://schema.org/alternateName",
    )
)


@dataclass(frozen=True)
class Mentioned:
    """What the statements of a text say about one name before it is linked.

    `said` are the classes that "is a" gave it, `expected` those of the first domain or range where it occurs;
    `alias_of` is the name of which it was called another name, or is the short form.
    """

    name: str
    said: tuple[NamedNode, ...] = ()
    expected: frozenset[NamedNode] = frozenset()
    alias_of: str | None = None


@dataclass(frozen=True)
class Name:
    """A name and its entity; `problems` apply to every statement that uses the name."""

    iri: NamedNode
    label: str
    classes: tuple[NamedNode, ...]
    new: bool
    problems: tuple[Problem, ...] = ()


class Names:
    """Resolves the names of one text, each once; all lookups go by the name's normal form.

    What else of the graph the text names decides between namesakes: one that lies in a region named.
    `verbatim`: a name is taken as the model wrote it; else two names in one and addresses are doubted.
    """

    def __init__(
        self,
        mentioned: Mapping[str, Mentioned],
        linker: Linker,
        minter: IriMinter,
        spelling: Callable[[str], str],
        text: str = "",
        *,
        verbatim: bool = False,
    ) -> None:
        self._verbatim = verbatim
        self._mentioned = mentioned
        self._linker = linker
        self._text = text
        self._minter = minter
        self._spelling = spelling
        self._found: dict[str, Name] = {}
        for key, mention in mentioned.items():
            self._found[key] = self._resolve(mention)
        ambiguous = [key for key in mentioned if self._is_ambiguous(key)]
        named = self._named_in_text() if ambiguous else frozenset()
        for key in ambiguous:
            self._found[key] = self._resolve(mentioned[key], context=named | self._linked())

    def __getitem__(self, name: str) -> Name:
        return self._found[name_key(name)]

    def _is_ambiguous(self, key: str) -> bool:
        return any(problem.rule == AMBIGUOUS_NAME for problem in self._found[key].problems)

    def _linked(self) -> set[NamedNode]:
        """The known entities that names are linked to."""
        return {name.iri for name in self._found.values() if not (name.new or name.problems)}

    def _named_in_text(self) -> frozenset[NamedNode]:
        """The known entities whose name the text has, as a whole, and that nothing else bears."""
        found: set[NamedNode] = set()
        for _, end, entries in self._linker.labels.mentions(self._text):
            goes_on = _CAPITALIZED_NEXT.match(self._text, end)  # "Chicago" of "Chicago Tribune"
            if not goes_on and len({self._linker.same(entry.iri) for entry in entries}) == 1:
                found.add(entries[0].iri)
        return frozenset(found)

    def _resolve(
        self, mention: Mentioned, *, context: Collection[NamedNode] = (), follow: bool = True
    ) -> Name:
        expected = frozenset(mention.said) or mention.expected
        link = self._linker.link(mention.name, expected=expected, context=context)
        exact = link.reason in (LinkReason.LABEL, LinkReason.ALIAS)
        if exact and link.iri is not None and link.entry is not None:
            known = len(normalize(mention.name).split()) > 1 or not _is_capitalized(link.entry.label)
            problems = () if known or is_name(mention.name) else (_not_a_name(mention.name),)
            return Name(link.iri, link.entry.label, _sorted(link.entry.classes), False, problems)
        if mention.alias_of is not None and follow and not self._linker.labels.exact(mention.name):
            owner = self._mentioned.get(name_key(mention.alias_of))
            if owner is not None:
                return self._resolve(owner, context=context, follow=False)
        if link.reason in (LinkReason.NEAR, LinkReason.AMBIGUOUS):
            return self._which(mention, link)
        if link.reason is LinkReason.WRONG_CLASS and not mention.said:
            entry = link.alternatives[0]  # the statements in which its class does not fit say so
            return Name(entry.iri, entry.label, _sorted(entry.classes), False)
        doubts = [] if is_name(mention.name) else [_not_a_name(mention.name)]
        if not self._verbatim:
            if _OWN_PART.search(mention.name) or is_two_names(mention.name, self._linker.schema):
                doubts.append(_two_names(mention.name))
            if _ADDRESS.match(mention.name):
                doubts.append(Problem(NOT_A_NAME, f'"{mention.name}" is an address: write what is there.'))
        iri = self._minter.entity(mention.name)
        if link.reason is LinkReason.WRONG_CLASS:
            doubts += self._questions(NAMESAKE, mention, link, iri)
        return Name(iri, self._spelling(mention.name), mention.said, True, tuple(doubts))

    def _which(self, mention: Mentioned, link: Link) -> Name:
        """A new entity of a name that several bear or that is only spelled like known ones: a person decides
        which of them it is, or that it is new.
        """
        iri = self._minter.entity(mention.name)
        problems = self._questions(AMBIGUOUS_NAME, mention, link, iri)
        unnamed = () if is_name(mention.name) else (_not_a_name(mention.name),)
        return Name(iri, self._spelling(mention.name), mention.said, True, (*problems, *unnamed))

    def _questions(
        self, rule: NamedNode, mention: Mentioned, link: Link, iri: NamedNode
    ) -> tuple[Problem, ...]:
        """Whether a new entity is one of those that were not taken, each asked on its own."""
        entries = (link.entry,) if link.entry is not None else link.alternatives
        other = " of another kind" if rule == NAMESAKE else ""
        return tuple(
            Problem(
                rule,
                f'"{mention.name}" may be {entry.label} <{entry.iri.value}>{other}. Choose which one the '
                "text means, or that it is a new one.",
                value=entry.iri,
                focus=iri,
            )
            for entry in entries
        )


def alias_properties(schema: Schema) -> frozenset[NamedNode]:
    """Return the properties whose values are names of their subject: labels and kinds of them."""
    return frozenset(sub for label in _LABELS for sub in schema.subproperties(label)) | _LABELS


def short_forms(names: Mapping[str, Mentioned], text: GroundedText) -> Mapping[str, str]:
    """Find the names that are the last word of one longer name and follow it: "Jacobs" after "Jane Jacobs".

    So are initials in brackets behind a name: "Norton Elm Museum (NEM)". Not where the words before it make
    another place of it, as in "East Harlem" and "Harlem", nor where the longer name says with it where or
    what it is of, as in "University of Chicago" and "Chicago".
    """
    found: dict[str, str] = {}
    for key, mention in names.items():
        longer = [other for other in names if other.endswith(f" {key}")]
        if " " in key or len(longer) != 1 or set(longer[0].split()) & QUALIFIERS:
            continue
        if set(longer[0].split()[-3:-1]) & _LINKING:
            continue
        whole, part = (text.occurrences(name) for name in (names[longer[0]].name, mention.name))
        if whole and part and whole[0].start <= part[0].start < whole[0].end:
            found[key] = names[longer[0]].name
    for key, mention in names.items():
        for other in names.values():
            if _is_initials(mention.name, other.name) and f"{other.name} ({mention.name})" in text.text:
                found[key] = other.name
    return found


def _is_initials(letters: str, name: str) -> bool:
    """Whether letters are those that the words of a name begin with, all or the capital ones: "MoMA"."""
    initials = [word[0] for word in name.split() if word[0].isalpha()]
    capitals = [letter for letter in initials if letter.isupper()]
    return len(letters) > 1 and letters.casefold() in (
        "".join(some).casefold() for some in (initials, capitals) if len(some) > 1
    )


def name_key(name: str) -> str:
    """Return the form under which a name is one and the same throughout a text."""
    return normalize(name) or name.casefold().strip()


def is_name(words: str) -> bool:
    """Return whether words are a name, not a pronoun or a common noun ("It", "the university").

    A name has a capital letter, a digit, or letters of a script that knows no capitals.
    """
    bare = _DETERMINER.sub("", words.strip(), count=1)
    if normalize(bare) in _PRONOUNS.split() or _NUMBERS.fullmatch(bare):
        return False
    return _is_capitalized(bare)


def ends_small(words: str) -> bool:
    """Return whether words end with a small letter's word: "Jesuit church", "Oak Street station"."""
    found = words.split()
    return len(found) > 1 and found[-1].islower() and found[-1].isalpha()


def is_two_names(words: str, schema: Schema) -> bool:
    """Return whether "and" joins two full names: "Joshua David and Robert Hammond".

    Not where a part is one word ("Warren and Wetmore") or has a small letter or a kind in it ("New York and
    Brooklyn Bridge"): then "and" may belong to one name.
    """
    parts = [part.split() for part in re.split(r"\s+(?:and|&)\s+", words.strip())]
    return len(parts) == 2 and all(
        len(part) > 1 and all(word[0].isupper() and schema.find_class(word) is None for word in part)
        for part in parts
    )


def without_whereabouts(name: str) -> str:
    """Return a name without the place that follows it: "Atomium in Brussels" is the Atomium.

    "Lower East Side of Norton" is the Lower East Side, "Norton borough of Weston" is Weston.
    Only what is a name itself is taken off, so "Saint Martin in the Fields" stays as it is.
    """
    plain = " ".join(name.split())
    if (part := _PART_OF.fullmatch(plain)) is not None:
        return part["part"]
    if (whole := _KIND_OF.fullmatch(plain)) is not None:
        return whole["whole"]
    found = _WHEREABOUTS.fullmatch(plain)
    if found is None or not found["place"][0].isupper() or not is_name(found["name"]):
        return name
    return found["name"]


def without_possessor(name: str, is_noun: Callable[[str], bool] = lambda word: False) -> str:
    """Return a name without the place that it belongs to: "Norton's Central Station", "Norton's Ashsee".

    A saint's, a king's or a given name with "'s" is a part of the name: "St Paul's", "King's Cross". So is
    what stands before one common word, "Elm's Corner"; `is_noun` knows the nouns of classes.
    """
    found = _POSSESSOR.fullmatch(" ".join(name.split()))
    if found is None or not found["thing"][0].isupper():
        return name
    owner, thing = found["owner"].split(), found["thing"].split()
    people = (owner[0].casefold().strip("."), owner[-1].casefold())
    saint = len(owner) == _OF_SAINTS and people[0] in ("st", "saint")
    town = (len(owner) == 1 or saint) and people[1] in _TOWNS
    town = town or (len(owner) > 1 and owner[-1] in ("City", "Town"))
    named = is_given_name(owner[0]) or is_noun(owner[-1])
    own = not town and (named or any(word in OPENING_PERSONS for word in people))
    common = is_noun(thing[-1]) or thing[-1].casefold() in _COMMON
    ends = ends_small(found["thing"]) and not common
    several = len(thing) < 2 and thing[0].endswith("s") and not thing[0].endswith("ss")  # "Elm's Pretzels"
    led = thing[0].casefold() in _COMMON and thing[-1].casefold() in _STREETS  # "Elm's Inn Road"
    whole = own or several or led or len(owner) > 2 or ends or (len(thing) < 2 and common)
    return name if whole else found["thing"]


def without_heading(name: str) -> str:
    """Return a name without the word before a colon, which opens its line: "Bus: Norton Line".

    What follows a name and is none describes it: "Elm Hall: the town hall".
    """
    head, colon, rest = name.partition(": ")
    if not (head and colon):
        return name
    return rest if is_name(rest) else head if is_name(head) else name


def _is_capitalized(words: str) -> bool:
    return any(c.isupper() or c.istitle() or c.isdigit() or (c.isalpha() and not c.islower()) for c in words)


def _not_a_name(words: str) -> Problem:
    return Problem(NOT_A_NAME, f'"{words}" is not a name: find out what is meant and write its name.')


def _two_names(words: str) -> Problem:
    return Problem(NOT_A_NAME, f'"{words}" is two names: state it of each.')


def _sorted(classes: Iterable[NamedNode]) -> tuple[NamedNode, ...]:
    return tuple(sorted(classes, key=lambda node: node.value))
