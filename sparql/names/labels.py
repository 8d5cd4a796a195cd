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

from pyoxigraph import NamedNode, Quad

from extractors.grounding.linking import LabelEntry, Word, marks, normalize, without_possessive, words_of
from ontology.schema import Schema
from sparql.names.label_state import ALIASES, MAIN_LABELS, TYPE, LabelState, by_importance

_STOP_WORDS: Final = frozenset(
    """a an and are as at be but by for from has have he her his how i if in is it its many much near no not
    of off on one or our she so that the their them then there they this to up was we were what when where
    which who whose why will with you your""".split()
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


class LabelIndex:
    """Implements `extractors.grounding.linking.Labels`, and observes default-graph quads for the writer.

    `aliases` are further properties whose values count as aliases (`alias_properties` reads them from an
    ontology). Classes and properties of an ontology are not entities and are never found.
    """

    def __init__(self, aliases: Collection[NamedNode] = ()) -> None:
        self._lock = RLock()
        self._properties = MAIN_LABELS | ALIASES | frozenset(aliases)
        self._state = LabelState(self._properties)
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
        return self._properties | {TYPE}

    def expect_rebuild(self) -> None:
        """Record what is applied until the end of the next rebuild, which works on an older state."""
        with self._lock:
            self._missed = []

    def rebuild(self, quads: Iterable[Quad]) -> None:
        """Replace everything with these quads of the default graph."""
        state = LabelState(self._properties)
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
        return sorted(found, key=by_importance)

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
            names = list(self._state.entries)
        # Beside the lock: a commit and the questions of others do not wait for this.
        found = [name for name in names if key in name]
        found.sort(key=lambda name: (not name.startswith(key), f" {key}" not in name, len(name), name))
        entries: dict[NamedNode, LabelEntry] = {}
        with self._lock:
            for name in found:
                for entry in self._state.named(name):
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
            entries = [(entry, score) for name, score in found for entry in self._state.named(name)]
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


def _note(state: LabelState, additions: Iterable[Quad], removals: Iterable[Quad]) -> dict[NamedNode, None]:
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
