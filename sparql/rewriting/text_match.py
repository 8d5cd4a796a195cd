"""The property urbankg:textMatch: places by what their labels are like.

    ?place urbankg:textMatch "old mill"
    ?place urbankg:textMatch ("old mill" 20)
    (?place ?score) urbankg:textMatch ("old mill" 20)

The label index names the entities whose labels are most similar to the words (trigrams, 0 to 1), best first,
at most as many as the number says (10 without one). Each is asked of the graph that the query reads: it must
still bear the label there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from pyoxigraph import Literal, NamedNode, Variable

from sparql.model.errors import MalformedRequest
from sparql.model.vocabulary import RDF, UKG, XSD
from sparql.rewriting.steps import Report
from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.parser import ParsedQuery
from sparql.syntax.writing import Elements, Place, replace_elements

TEXT_MATCH: Final = UKG.textMatch
_USUAL: Final = 10
_MOST: Final = 1000
_NUMBER: Final = re.compile(r"\+?[0-9]{1,100}")
_FORMS: Final = (
    'Write ?place urbankg:textMatch "words", or (?place ?score) urbankg:textMatch ("words" 20), '
    "by itself as a triple."
)


class Entry(Protocol):
    """A label and who bears it."""

    @property
    def iri(self) -> NamedNode: ...

    @property
    def label(self) -> str: ...


class Labels(Protocol):
    """The label index."""

    @property
    def label_properties(self) -> Collection[NamedNode]: ...

    def similar(self, words: str, limit: int) -> Sequence[tuple[Entry, float]]: ...


def match_labels(parsed: ParsedQuery, labels: Callable[[], Labels], report: Report) -> n.Query:
    """The query with its text matches answered. Raises MalformedRequest for one in another form."""
    return replace_elements(parsed.query, _Matches(parsed, labels, report).replace)


class _Matches:
    def __init__(self, parsed: ParsedQuery, labels: Callable[[], Labels], report: Report) -> None:
        self._parsed = parsed
        self._labels = labels
        self._report = report
        self._count = 0

    def replace(self, element: n.Element, _place: Place) -> Elements | None:
        """The elements in place of a statement with text matches."""
        if isinstance(element, n.Nested) and element.keyword == "LATERAL":
            _refuse_in_lateral(element)
        if not isinstance(element, n.Statement):
            return None
        _refuse_in_path(element)
        matches = [triple for triple in element.triples if triple.predicate == TEXT_MATCH]
        return self._answered(element, matches) if matches else None

    def _answered(self, statement: n.Statement, matches: list[n.TriplePattern]) -> Elements:
        others = [triple for triple in statement.triples if triple not in matches]
        heads = {term for match in matches for term in (match.subject, match.object)}
        cells = {cell for head in heads for cell in _cells(head, others)}
        kept = [triple for triple in others if triple.subject not in cells or not _is_list(triple)]
        if any(triple.subject in cells for triple in kept):
            raise MalformedRequest(f"Say what else holds of the place in a triple of its own. {_FORMS}")
        elements: list[n.Element] = [b.statement(*kept)] if kept else []
        part = self._parsed.text_of(statement)
        for match in matches:
            subject, value = (_members_or_self(term, others) for term in (match.subject, match.object))
            _check_subject(subject)
            words, limit = _words_and_limit(value)
            rows = [
                (entry.iri, Literal(entry.label), Literal(round(score, 4)))
                for entry, score in self._labels().similar(words, limit)
            ]
            self._report.did("text match", part, "from the index of labels", candidates=len(rows))
            self._count += 1
            elements.append(_element(subject, rows, self._labels().label_properties, self._count))
        return tuple(elements)


def _refuse_in_lateral(nested: n.Nested) -> None:
    for element in nested.groups[0].elements:
        if isinstance(element, n.Statement) and any(t.predicate == TEXT_MATCH for t in element.triples):
            raise MalformedRequest("urbankg:textMatch cannot be used in LATERAL; write it beside it.")


def _refuse_in_path(statement: n.Statement) -> None:
    for triple in statement.triples:
        if isinstance(triple.verb, n.PathOperator) and TEXT_MATCH in n.links_of(triple.verb):
            raise MalformedRequest(f"urbankg:textMatch cannot be used in a property path. {_FORMS}")


def _check_subject(subject: list[n.Term]) -> None:
    """Raises MalformedRequest for anything but a place, or two variables of which one is the score's."""
    place, score = subject[0] if subject else None, subject[1:]
    if not isinstance(place, Variable | NamedNode) or len(score) > 1:
        raise MalformedRequest(_FORMS)
    if not all(isinstance(term, Variable) for term in score) or place in score:
        raise MalformedRequest(f"The score of urbankg:textMatch needs a variable of its own. {_FORMS}")


def _words_and_limit(value: list[n.Term]) -> tuple[str, int]:
    """What to look for, and how many at most. Raises MalformedRequest."""
    if not 1 <= len(value) <= 2:
        raise MalformedRequest(_FORMS)
    words, limit = value[0], value[1] if len(value) > 1 else Literal(_USUAL)
    if not isinstance(words, Literal) or words.datatype not in (XSD.string, RDF.langString):
        raise MalformedRequest(
            f"The words of urbankg:textMatch must be written in the query, as a string. {_FORMS}"
        )
    digits = limit.value if isinstance(limit, Literal) and limit.datatype == XSD.integer else ""
    if not _NUMBER.fullmatch(digits):
        raise MalformedRequest(
            f"How many urbankg:textMatch finds must be written in the query, as a number from 0 to {_MOST}. "
            + _FORMS
        )
    return words.value, min(int(digits), _MOST)


def _element(
    subject: list[n.Term], rows: Sequence[tuple[n.Term, ...]], properties: Collection[NamedNode], number: int
) -> n.Element:
    """What replaces a text match: a row for each entity that still bears one of the labels."""
    place = subject[0]
    name, label, best, own = (f"match{what}{number}" for what in ("Place", "Label", "Best", "Own"))
    same = b.filtered(b.operation("=", b.operation("STR", b.use(own)), b.use(label)))
    borne = b.triple(Variable(name), b.alternatives(*sorted(properties, key=str)), Variable(own))
    found = b.group(b.values([name, label, best], rows), b.filtered(b.exists(borne, same)))
    score = [one.value for one in subject[1:] if isinstance(one, Variable)]
    if score:
        most = n.Projection(score[0], b.operation("MAX", b.use(best)))
        inner = b.select([name, most], found, by=[b.use(name)])
    else:
        inner = b.select([name], found, distinct=True)
    if isinstance(place, Variable):
        named = n.Projection(place.value, b.use(name))
        return b.in_braces(b.select([named, *map(n.Projection, score)], b.group(b.in_braces(inner))))
    matching = (b.in_braces(inner), b.filtered(b.operation("=", b.use(name), b.use(place))))
    if score:
        return b.in_braces(b.select(score, b.group(*matching)))
    return b.filtered(b.exists(*matching))


def _is_list(triple: n.TriplePattern) -> bool:
    return triple.predicate in (RDF.first, RDF.rest)


def _cells(term: n.Term, triples: list[n.TriplePattern]) -> list[n.Term]:
    """The cells of the collection that begins here; none where none does."""
    cells: list[n.Term] = []
    while rest := next((t for t in triples if t.subject == term and t.predicate == RDF.rest), None):
        cells.append(term)
        term = rest.object
    return cells


def _members_or_self(term: n.Term, triples: list[n.TriplePattern]) -> list[n.Term]:
    """The members of a collection; any other term alone."""
    if term == RDF.nil:
        return []
    cells = _cells(term, triples)
    firsts = {t.subject: t.object for t in triples if t.predicate == RDF.first}
    return [firsts[cell] for cell in cells] if cells else [term]
