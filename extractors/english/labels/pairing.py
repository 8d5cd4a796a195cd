"""Every pair of a subject and a value in a sentence whose words may say a relation, for the second look.

The labels alone say what stands in plain order (`proposing`). Where the order is less plain, each name of the
sentence, and what the sentence before is about, is tried as the subject. What passes the second look for one
subject only is a statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from pyoxigraph import NamedNode

from extractors.english.labels.acting import acts
from extractors.english.labels.proposing import Proposed, is_firm
from extractors.english.labels.values import is_dated_name, values_of
from extractors.english.wording.clause import Clause, Governor
from extractors.english.wording.look import Wording
from extractors.english.wording.phrases import Group, group_of
from extractors.english.wording.units import units_of
from extractors.grounding.mentions import GroundedText
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
        if acting and _is_list(wording.text, sentence, subjects):
            acting = subjects
        elif len(acting) != 1:
            continue
        words = wording.text.text[value.start : value.end]
        yield from ((one, term, words, sentence) for one in acting)


def _is_list(text: GroundedText, sentence: Span, names: Sequence[str]) -> bool:
    """Whether names open a sentence together: "The Elm Hall and the Ash Tower are both served by"."""
    spans = sorted(found[0] for name in names if (found := text.occurrences(name, sentence)))
    gaps = [text.text[one.end : other.start].casefold() for one, other in pairwise(spans)]
    opening = text.text[sentence.start : spans[0].start].strip().casefold() if spans else "."
    listed = all(gap in (" and ", " and the ", ", ", ", the ", ", and ", ", and the ") for gap in gaps)
    return len(spans) == len(names) > 1 and listed and " and " in gaps[-1] and opening in ("", "the", "both")


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
