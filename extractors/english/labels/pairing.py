"""Every pair of a subject and a value in a sentence whose words may say a relation, for the second look.

The labels alone say what stands in plain order (`proposing`). Where the order is less plain, each name of the
sentence, and what the sentence before is about, is tried as the subject. What passes the second look for one
subject only is a statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pyoxigraph import NamedNode

from extractors.english.labels.acting import acts
from extractors.english.labels.proposing import Proposed, is_firm
from extractors.english.labels.values import is_dated_name, values_of
from extractors.english.wording.clause import Clause, Governor
from extractors.english.wording.look import Wording
from extractors.english.wording.phrases import Group, group_of
from extractors.english.wording.units import units_of
from extractors.text.chunking import Span
from ontology.terms import OntologyProperty, PropertyKind

__all__ = ["paired"]

_OWNING = ("'s ", "’s ")


def paired(wording: Wording) -> Iterator[Proposed]:
    """What the second look confirms of one subject only, and that one can be what the words are said of."""
    found: dict[tuple[NamedNode, Span], list[str]] = {}
    sentences: dict[Span, Span] = {}
    for subject, term, value, sentence in _pairs(wording) if wording.reads else ():
        if wording.says(sentence, term, subject, value, "", is_firm) is None:
            found.setdefault((term.iri, value), []).append(subject)
            sentences[value] = sentence
    for (iri, value), subjects in found.items():
        term, sentence = wording.schema.properties[iri], sentences[value]
        acting = [
            one
            for one in subjects
            if wording.says(sentence, term, one, value, "", partial(_governs, wording, sentence, one)) is None
        ]
        if len(acting) == 1:
            yield acting[0], term, wording.text.text[value.start : value.end], sentence


def _governs(wording: Wording, sentence: Span, subject: str, clause: Clause, found: Governor) -> bool:
    return is_firm(clause, found) and acts(wording.topics, sentence, subject, clause, found)


def _pairs(wording: Wording) -> Iterator[tuple[str, OntologyProperty, Span, Span]]:
    """Each subject, relation and value of a sentence that has words for the relation."""
    text, known = wording.text, wording.names
    for sentence in text.sentences:
        inside = [one for one in known if sentence.start <= one.start and one.end <= sentence.end]
        longest = [one for one in inside if not any(_is_within(one, other) for other in inside)]
        longest = [one for one in longest if not is_dated_name(text.text[one.start : one.end])]
        about = wording.topics.before(sentence)
        free = [one for one in longest if not text.text.startswith(_OWNING, one.end)]
        named = [text.text[one.start : one.end] for one in free]
        subjects = list(dict.fromkeys([*named, *([about] if about else [])]))
        for group in Group:
            values = longest if group is Group.NAMES else list(values_of(text.text, sentence, group))
            units = units_of(text.text, sentence, [*longest, *values])
            iris = {iri for one in wording.phrases.occurrences(units, group, {}) for iri in one.terms}
            if group is Group.NAMES and any(unit.text in ("'s", "of") for unit in units):
                iris |= {iri for iri in wording.schema.properties if wording.phrases.has(iri, "in")}
            terms = [wording.schema.properties[iri] for iri in sorted(iris, key=lambda iri: iri.value)]
            for term in terms:
                if group_of(term) is Group.NAMES and term.kind is not PropertyKind.OBJECT:
                    continue
                for value in values:
                    words = text.text[value.start : value.end]
                    yield from ((subject, term, value, sentence) for subject in subjects if subject != words)


def _is_within(one: Span, other: Span) -> bool:
    return other != one and other.start <= one.start and one.end <= other.end
