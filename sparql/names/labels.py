"""The index of names: which entities of the default graph have which labels.

It is built from the quads of the default graph and updated with each commit's additions and removals. The
writer's thread changes it while the event loop reads it, so both take one lock, the writer only for a few
hundred entities at a time; a rebuild happens beside the old state, which is then swapped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from threading import RLock
from typing import Final

from pyoxigraph import Literal, NamedNode, Quad

from extractors.grounding.linking import LabelEntry, Word, normalize, without_possessive, words_of
from extractors.grounding.name_similarity import marks
from ontology.schema import Schema
from sparql.names.trigrams import TrigramIndex

__all__ = ["ALIASES", "MAIN_LABELS", "LabelIndex", "alias_properties"]

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"

MAIN_LABELS: Final = frozenset(
    NamedNode(iri)
    for iri in (
        _RDFS + "label",
        _SKOS + "prefLabel",
        "https://schema.org/name",
        "http://schema.org/name",
        "http://xmlns.com/foaf/0.1/name",
        "http://purl.org/dc/terms/title",
    )
)
ALIASES: Final = frozenset(NamedNode(_SKOS + name) for name in ("altLabel", "hiddenLabel"))

_TYPE: Final = NamedNode(_RDF + "type")
_NO_CLASS: Final = frozenset(NamedNode(_OWL + name) for name in ("NamedIndividual", "Thing"))
_TERM_TYPES: Final = frozenset(
    [NamedNode(_RDF + "Property"), NamedNode(_RDFS + "Class"), NamedNode(_RDFS + "Datatype")]
    + [
        NamedNode(_OWL + name)
        for name in (
            *("Class", "Restriction", "Ontology", "ObjectProperty", "DatatypeProperty", "AnnotationProperty"),
            *("OntologyProperty", "FunctionalProperty", "InverseFunctionalProperty", "TransitiveProperty"),
            *("SymmetricProperty", "AsymmetricProperty", "ReflexiveProperty", "IrreflexiveProperty"),
        )
    ]
)
_STOP_WORDS: Final = frozenset(
    """a an and are as at be but by for from has have he her his how i if in is it its many much near no not
    of off on one or our she so that the their them then there they this to up was we were what when where
    which who whose why will with you your""".split()  # noqa: SIM905
)
_BREAK = re.compile(r"[!?;:()\[\]{}\"“”«»\n]")
_SENTENCE_END = re.compile(r"[.!?:;\n]\s*[\"“«(]?\s*$")
_SLICE: Final = 500
_FEW_MARKED: Final = 100
"""Up to so many names with the same marks are compared one by one; for more the trigram index is faster."""


def alias_properties(schema: Schema) -> frozenset[NamedNode]:
    """Return the properties that the ontology declares as labels or aliases."""
    return (
        frozenset(sub for label in MAIN_LABELS | ALIASES for sub in schema.subproperties(label)) - MAIN_LABELS
    )


class _Facts:
    """The relevant facts about one subject; idempotent under repeated quads."""

    __slots__ = ("classes", "labels")

    def __init__(self) -> None:
        self.labels: set[tuple[NamedNode, Literal]] = set()
        self.classes: set[NamedNode] = set()

    @property
    def is_term(self) -> bool:
        return not self.classes.isdisjoint(_TERM_TYPES)


class _State:
    """One version of the index; `LabelIndex` guards it."""

    def __init__(self, label_properties: frozenset[NamedNode]) -> None:
        self.label_properties = label_properties
        self.facts: dict[NamedNode, _Facts] = {}
        self.entries: dict[str, dict[NamedNode, tuple[LabelEntry, ...]]] = {}
        self.keys_of: dict[NamedNode, frozenset[str]] = {}
        self.terms: dict[str, set[NamedNode]] = {}
        self.term_keys: dict[NamedNode, frozenset[str]] = {}
        # The length in words of the longest key by first word, and the number of keys by length.
        self.longest: dict[str, int] = {}
        self._lengths: dict[tuple[str, int], int] = {}
        self.trigrams = TrigramIndex()
        # Keys with a number or a word such as "East", by these.
        self.marked: dict[frozenset[str], set[str]] = {}

    def note(self, quad: Quad, *, added: bool) -> NamedNode | None:
        """Add one quad; return its subject when its names changed."""
        subject, predicate, value = quad.subject, quad.predicate, quad.object
        if not isinstance(subject, NamedNode):
            return None
        if predicate == _TYPE and isinstance(value, NamedNode):
            facts = self.facts.setdefault(subject, _Facts())
            (facts.classes.add if added else facts.classes.discard)(value)
            return subject
        if predicate in self.label_properties and isinstance(value, Literal):
            facts = self.facts.setdefault(subject, _Facts())
            (facts.labels.add if added else facts.labels.discard)((predicate, value))
            return subject
        return None

    def index(self, iri: NamedNode) -> None:
        """Update the entries of one subject to match its facts."""
        facts = self.facts[iri]
        for key in self.keys_of.pop(iri, frozenset()):
            self._drop(key, iri)
        for key in self.term_keys.pop(iri, frozenset()):
            self.terms[key].discard(iri)
            if not self.terms[key]:
                del self.terms[key]
        if not facts.labels and not facts.classes:
            del self.facts[iri]
        elif facts.is_term:
            self.term_keys[iri] = frozenset(normalize(label.value) for _, label in facts.labels)
            for key in self.term_keys[iri]:
                self.terms.setdefault(key, set()).add(iri)
        elif facts.labels:
            self._insert(iri, facts)

    def _insert(self, iri: NamedNode, facts: _Facts) -> None:
        classes = frozenset(facts.classes - _NO_CLASS)
        main: dict[str, bool] = {}
        for predicate, label in facts.labels:
            main[label.value] = main.get(label.value, False) or predicate in MAIN_LABELS
        keys = set()
        for label_text, is_main in sorted(main.items()):
            key = normalize(label_text)
            if not key:
                continue
            keys.add(key)
            if key not in self.entries:
                self.trigrams.add(key)
                marked = marks(key)
                if marked:
                    self.marked.setdefault(marked, set()).add(key)
                self._count(key)
            bearers = self.entries.setdefault(key, {})
            bearers[iri] = (*bearers.get(iri, ()), LabelEntry(iri, label_text, is_main, classes))
        self.keys_of[iri] = frozenset(keys)

    def _drop(self, key: str, iri: NamedNode) -> None:
        bearers = self.entries[key]
        del bearers[iri]
        if not bearers:
            del self.entries[key]
            self.trigrams.discard(key)
            self._discount(key)
            marked = self.marked.get(marks(key))
            if marked is not None:
                marked.discard(key)
                if not marked:
                    del self.marked[marks(key)]

    def _count(self, key: str) -> None:
        first, size = key.split(" ", 1)[0], key.count(" ") + 1
        self._lengths[first, size] = self._lengths.get((first, size), 0) + 1
        self.longest[first] = max(size, self.longest.get(first, 0))

    def _discount(self, key: str) -> None:
        first, size = key.split(" ", 1)[0], key.count(" ") + 1
        self._lengths[first, size] -= 1
        if self._lengths[first, size]:
            return
        del self._lengths[first, size]
        longest = self.longest[first]
        while longest and (first, longest) not in self._lengths:
            longest -= 1
        if longest:
            self.longest[first] = longest
        else:
            del self.longest[first]

    def named(self, key: str) -> list[LabelEntry]:
        """Return the entries of a normalized key, main labels first."""
        entries = [entry for found in self.entries.get(key, {}).values() for entry in found]
        return sorted(entries, key=_by_importance) if len(entries) > 1 else entries


def _by_importance(entry: LabelEntry) -> tuple[bool, str, str]:
    return (not entry.main, entry.iri.value, entry.label)


class LabelIndex:
    """Implements `extractors.grounding.linking.Labels`, and observes default-graph quads for the writer.

    `aliases` are further properties whose values count as aliases (`alias_properties` reads them from an
    ontology). Classes and properties of an ontology are not entities and are never found.
    """

    def __init__(self, aliases: Collection[NamedNode] = ()) -> None:
        self._lock = RLock()
        self._properties = MAIN_LABELS | ALIASES | frozenset(aliases)
        self._state = _State(self._properties)
        self._missed: list[tuple[Iterable[Quad], Iterable[Quad]]] | None = None

    def __len__(self) -> int:
        """Return the number of entities that have a name."""
        return len(self._state.keys_of)

    @property
    def label_properties(self) -> frozenset[NamedNode]:
        """The properties that are read as labels."""
        return self._state.label_properties

    def use_aliases(self, aliases: Collection[NamedNode]) -> bool:
        """Count the values of these as aliases from the next rebuild on; whether that changes anything."""
        properties = MAIN_LABELS | ALIASES | frozenset(aliases)
        changed = properties != self._properties
        self._properties = properties
        return changed

    @property
    def predicates(self) -> frozenset[NamedNode]:
        """Names and kinds."""
        return self._properties | {_TYPE}

    def expect_rebuild(self) -> None:
        """Record what is applied until the end of the next rebuild, which works on an older state."""
        with self._lock:
            self._missed = []

    def rebuild(self, quads: Iterable[Quad]) -> None:
        """Replace everything with these quads of the default graph."""
        state = _State(self._properties)
        for quad in quads:
            state.note(quad, added=True)
        for iri in list(state.facts):
            state.index(iri)
        with self._lock:
            missed, self._missed = self._missed or [], None
            for iri in {iri: None for change in missed for iri in _note(state, *change)}:
                state.index(iri)
            self._state = state

    def apply(self, additions: Iterable[Quad], removals: Iterable[Quad]) -> None:
        """Apply one commit; the work is proportional to the commit."""
        additions, removals = tuple(additions), tuple(removals)
        with self._lock:
            if self._missed is not None:
                self._missed.append((additions, removals))
            touched = _note(self._state, additions, removals)
        for part in _slices(touched, _SLICE):
            with self._lock:
                for iri in part:
                    self._state.index(iri)

    def entries_of(self, iri: NamedNode) -> Sequence[LabelEntry]:
        """Return the labels of one entity, main ones first; empty when it has none."""
        with self._lock:
            state = self._state
            found = [entry for key in state.keys_of.get(iri, ()) for entry in state.entries[key][iri]]
        return sorted(found, key=_by_importance)

    def classes_of(self, iri: NamedNode) -> frozenset[NamedNode]:
        """Return the classes that an entity is stated to be in, with a name or without."""
        with self._lock:
            facts = self._state.facts.get(iri)
            return frozenset() if facts is None else frozenset(facts.classes)

    def exact(self, words: str) -> Sequence[LabelEntry]:
        """Return the entries whose label equals the normalized words, main labels first."""
        with self._lock:
            return self._state.named(normalize(words))

    def similar(self, words: str, limit: int) -> Sequence[tuple[LabelEntry, float]]:
        """Return entries by trigram similarity (Dice, 0 to 1), best first, at most `limit`."""
        with self._lock:
            found = self._state.trigrams.similar(normalize(words), limit)
            entries = [(entry, score) for key, score in found for entry in self._state.named(key)]
        return entries[:limit]

    def containing(self, words: str, limit: int) -> Sequence[LabelEntry]:
        """Return one entry for each entity with these words in a label, at most `limit`.

        Labels that begin with them come first, then those with a word that does, the shorter ones before.
        Reads every label: a millisecond for some ten thousand.
        """
        key = normalize(words)
        if not key:
            return []
        with self._lock:
            found = [one for one in self._state.entries if key in one]
            found.sort(key=lambda one: (not one.startswith(key), f" {key}" not in one, len(one), one))
            entries: dict[NamedNode, LabelEntry] = {}
            for one in found:
                for entry in self._state.named(one):
                    entries.setdefault(entry.iri, entry)
                if len(entries) >= limit:
                    break
        return list(entries.values())[:limit]

    def alike(self, words: str, limit: int) -> Sequence[tuple[LabelEntry, float]]:
        """Like `similar`, but may omit names that differ in a number or a word such as "East"."""
        with self._lock:
            key = normalize(words)
            key_marks = marks(key)
            known = self._state.marked.get(key_marks, ()) if key_marks else None
            if known is None or len(known) > _FEW_MARKED:
                return self.similar(words, limit)
            found = self._state.trigrams.similar_among(key, known, limit)
            entries = [(entry, score) for one, score in found for entry in self._state.named(one)]
        return entries[:limit]

    def mentions(
        self, text: str, *, any_case: bool = False
    ) -> Sequence[tuple[int, int, Sequence[LabelEntry]]]:
        """Return the longest labels found in a text, as code-point spans that do not overlap.

        A capitalized label is found only where the text capitalizes it too, so that "a park" is not the
        entity "Park"; `any_case` lifts this for texts typed without capitals, except for the ontology's own
        words. Numbers, single characters and words such as "it" never count as names.
        """
        words = list(words_of(text))
        found: list[tuple[int, int, Sequence[LabelEntry]]] = []
        position = 0
        with self._lock:
            while position < len(words):
                match = self._longest_at(text, words, position, any_case=any_case)
                if match is None:
                    position += 1
                    continue
                size, end, entries = match
                found.append((words[position].start, end, entries))
                position += size
        return found

    def _longest_at(
        self, text: str, words: list[Word], position: int, *, any_case: bool
    ) -> tuple[int, int, Sequence[LabelEntry]] | None:
        state = self._state
        first = words[position]
        bare = without_possessive(text, first)
        reach = max(state.longest.get(first.text, 0), state.longest.get(bare.text, 0) if bare else 0)
        for size in range(min(reach, len(words) - position), 0, -1):
            span = words[position : position + size]
            shorter = without_possessive(text, span[-1])
            for last in (span[-1], *((shorter,) if shorter else ())):
                named = [*span[:-1], last]
                key = " ".join(word.text for word in named)
                entries = state.named(key)
                borne = {
                    label
                    for label in {entry.label for entry in entries}
                    if self._bears(text, named, key, label, any_case=any_case)
                }
                taken = tuple(entry for entry in entries if entry.label in borne)
                if taken:
                    return size, last.end, taken
        return None

    def _bears(self, text: str, span: list[Word], key: str, label: str, *, any_case: bool) -> bool:
        """Whether this position of the text really uses the label as a name."""
        words = key.split(" ")
        if len(key) < 2 or key.replace(" ", "").isdigit() or _STOP_WORDS.issuperset(words):
            return False
        if any(_separates(text[a.end : b.start], a, label) for a, b in pairwise(span)):
            return False
        label_words = list(words_of(label))[-len(span) :]
        capital = next((i for i, w in enumerate(label_words) if label[w.start].isupper()), None)
        if capital is None:
            return True
        if text[span[capital].start].islower():
            return any_case and not all(word in _STOP_WORDS or self._is_term(word) for word in (key, *words))
        opens = not text[: span[0].start].strip() or bool(_SENTENCE_END.search(text[: span[0].start]))
        return not (opens and len(span) == 1 and self._is_term(key))

    def _is_term(self, key: str) -> bool:
        terms = self._state.terms
        return bool(terms.get(key) or (key.endswith("s") and terms.get(key[:-1])))


def _note(state: _State, additions: Iterable[Quad], removals: Iterable[Quad]) -> dict[NamedNode, None]:
    """Apply the quads of a commit; the subjects to reindex, in order."""
    touched: dict[NamedNode, None] = {}
    for quads, added in ((removals, False), (additions, True)):
        for quad in quads:
            subject = state.note(quad, added=added)
            if subject is not None:
                touched[subject] = None
    return touched


def _separates(gap: str, before: Word, label: str) -> bool:
    """Whether the text between two words separates them into two sentences or phrases."""
    if _BREAK.search(gap):
        return True
    if "," in gap and "," not in label:
        return True
    return "." in gap and before.end - before.start > 3 and "." not in label


def _slices(items: Iterable[NamedNode], size: int) -> Iterator[list[NamedNode]]:
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part
