"""The choices for a plan: the linked names, and the classes and properties that fit the question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from pyoxigraph import NamedNode

from extractors.grounding.linking import LabelEntry
from ontology import OntologyClass, OntologyProperty, PropertyKind, Schema
from ontology.labels import local_name, normalise, stem, words
from sparql.ask.naming import FoundName
from sparql.ask.plan import NONE, Choice, Choices

__all__ = ["EMPTY_WORDS", "offer"]

TermT = TypeVar("TermT", OntologyClass, OntologyProperty)

_LONGEST_TERM = 5
EMPTY_WORDS = frozenset(
    """a all an any are at by did do does for from has have how in is it many much of on that the there they
    this to was were what when where which who with count find give list name show tell""".split()  # noqa: SIM905
)


def offer(
    question: str,
    names: Sequence[FoundName],
    schema: Schema,
    *,
    present: Sequence[NamedNode] = (),
    inside: Sequence[NamedNode] = (),
    things: Iterable[NamedNode] = (),
    limit: int,
    only_related: bool,
) -> Choices:
    """Gather the choices for a question, at most `limit` classes and as many properties.

    First come those that the question names, in its order, then those that fit it best. `present` are
    properties that the named entities have in the graph, `inside` those that answer "where"; `things` are
    fallback classes. With `only_related`, a term must share a word with the question, since a small model
    tends to choose unrelated offers.
    """
    rest = _without_names(question, names)
    snippet = schema.snippet(rest, limit, limit)
    stems = {stem(word) for word in words(rest)} - EMPTY_WORDS
    classes: dict[NamedNode, OntologyClass] = {}
    properties: dict[NamedNode, OntologyProperty] = {}
    for part in _parts(rest):
        found = schema.find_class(part)
        if found is not None and _is_called(found, part):
            classes.setdefault(found.iri, found)
        known = schema.find_property(part)
        if known is not None:
            properties.setdefault(known.iri, known)
    if "where" in words(rest):
        properties.update({iri: schema.properties[iri] for iri in inside})
    heads = frozenset(normalise(rest))
    for term in snippet.classes:
        if not only_related or _has_head(term, heads, main_only=bool(classes)):
            classes.setdefault(term.iri, term)
    if not classes:
        classes = {
            i: schema.classes[i] for i in things if i in schema.classes and not schema.classes[i].borrowed
        }
    related = [p for p in snippet.properties if not only_related or _shares(p, stems)]
    there = [schema.properties[iri] for iri in present if iri in schema.properties]
    for relation in [*related[: max(1, limit // 2)], *there, *related]:
        properties.setdefault(relation.iri, relation)
    return Choices(
        names=_by_words(_name_choices(names, schema)),
        classes=_by_words(_term_choices(classes.values(), limit)),
        properties=_by_words(_term_choices(properties.values(), limit)),
    )


def _without_names(question: str, names: Sequence[FoundName]) -> str:
    text, position = [], 0
    for name in names:
        text.append(question[position : name.start])
        position = name.end
    return " | ".join([*text, question[position:]])


def _parts(text: str) -> Iterator[str]:
    """Yield every run of at most five words, by start, then longest first."""
    for piece in text.split("|"):
        found = words(piece)
        for start in range(len(found)):
            for size in range(min(_LONGEST_TERM, len(found) - start), 0, -1):
                yield " ".join(found[start : start + size])


def _is_called(term: OntologyClass, part: str) -> bool:
    return normalise(part) in {normalise(label) for label in (term.label, *term.alternative_labels)}


def _has_head(term: OntologyClass, found: frozenset[str], *, main_only: bool) -> bool:
    """Return whether the last word of a class's name, its noun, is among the words."""
    labels = (term.label,) if main_only else (term.label, *term.alternative_labels)
    return any(label and normalise(label)[-1:] and normalise(label)[-1] in found for label in labels)


def _shares(term: TermT, stems: set[str]) -> bool:
    labels = (term.label, *term.alternative_labels)
    return any(stem(word) in stems for label in labels for word in words(label) if word not in EMPTY_WORDS)


def _term_choices(terms: Iterable[TermT], limit: int) -> Iterator[Choice]:
    usable = [
        term
        for term in terms
        if not term.deprecated
        and term.label
        and not (isinstance(term, OntologyProperty) and term.kind is PropertyKind.ANNOTATION)
    ]
    for term in usable[:limit]:
        yield Choice(_one_line(term.label), term.iri)


def _name_choices(names: Sequence[FoundName], schema: Schema) -> Iterator[Choice]:
    for name in names:
        entry = name.link.entry
        if entry is not None:
            yield Choice(_one_line(name.words), entry.iri, entry.classes)
            continue
        for other in () if name.is_unknown else name.link.alternatives:
            words_ = f"{_one_line(name.words)} ({_kind(other, schema)})"
            yield Choice(words_, other.iri, other.classes)


def _kind(entry: LabelEntry, schema: Schema) -> str:
    labels = sorted(schema.classes[c].label for c in entry.classes if c in schema.classes)
    return _one_line(", ".join(labels)) or local_name(entry.iri.value)


def _by_words(choices: Iterable[Choice]) -> dict[str, Choice]:
    """Index choices by words; things with the same words are distinguished by the end of their IRI."""
    found: dict[str, Choice] = {}
    for choice in choices:
        taken = found.get(choice.words)
        if taken is not None and taken.iri == choice.iri:
            continue
        words_ = choice.words
        if (taken is not None or words_ == NONE) and choice.iri is not None:
            words_ = f"{words_} [{local_name(choice.iri.value)}]"
        found[words_] = Choice(words_, choice.iri, choice.classes)
    return found


def _one_line(text: str) -> str:
    """Return the text on one line, without characters that prompt lists or a JSON grammar interpret."""
    return " ".join(text.replace(";", ",").replace('"', "'").replace("\\", "/").split())
