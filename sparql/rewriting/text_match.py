"""The property urbankg:textMatch: places by what their labels are like.

    ?place urbankg:textMatch "old mill"
    ?place urbankg:textMatch ("old mill" 20)
    (?place ?score) urbankg:textMatch ("old mill" 20)

The label index names the entities whose labels are most similar to the words (trigrams, 0 to 1), best first,
at most as many as the number says (10 without one). Each is asked of the graph that the query reads: it must
still bear the label there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from pyoxigraph import Literal, NamedNode, Variable

from sparql.errors import MalformedRequest
from sparql.rewriting import nodes as n
from sparql.rewriting.edits import Edit, apply_edits
from sparql.rewriting.parser import ParsedQuery
from sparql.rewriting.report import Report
from sparql.rewriting.writing import term_text, triple_text
from sparql.vocabulary import RDF, UKG, XSD

TEXT_MATCH: Final = UKG.textMatch
_USUAL: Final = 10
_MOST: Final = 1000
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


def match_labels(parsed: ParsedQuery, labels: Callable[[], Labels], report: Report) -> str:
    """The query with its text matches answered. Raises MalformedRequest for one in another form."""
    edits: list[Edit] = []
    taken = 0
    if parsed.query.where is None:
        return parsed.text
    for group in n.groups_of(parsed.query.where):
        for element in group.elements:
            if isinstance(element, n.Statement) and any(
                triple.predicate == TEXT_MATCH for triple in element.triples
            ):
                taken += 1
                edits.append(_answered(element, labels(), parsed, taken, report))
    return apply_edits(parsed.text, edits)


def _answered(
    statement: n.Statement, labels: Labels, parsed: ParsedQuery, number: int, report: Report
) -> Edit:
    match = next(triple for triple in statement.triples if triple.predicate == TEXT_MATCH)
    others = [triple for triple in statement.triples if triple is not match]
    cells = {triple.subject for triple in others if _is_list(triple)}
    kept = [triple for triple in others if not _is_list(triple)]
    subject, value = (
        _members(term, others) if term in cells else [term] for term in (match.subject, match.object)
    )
    words, limit = value[0], value[1] if len(value) > 1 else Literal(_USUAL)
    if (
        not (1 <= len(subject) <= 2 and 1 <= len(value) <= 2)
        or (kept and cells & {match.subject})
        or not (isinstance(words, Literal) and isinstance(limit, Literal) and limit.datatype == XSD.integer)
        or not isinstance(subject[0], Variable | NamedNode)
        or not all(isinstance(term, Variable) for term in subject[1:])
    ):
        raise MalformedRequest(_FORMS)
    most = min(max(int(limit.value), 0), _MOST)
    rows = [
        f"({entry.iri} {Literal(entry.label)} {Literal(round(score, 4))})"
        for entry, score in labels.similar(words.value, most)
    ]
    part = parsed.text[statement.start : statement.end]
    report.did("text match", part, "from the index of labels", candidates=len(rows))
    before = "".join(f"{triple_text(triple)} . " for triple in kept)
    return Edit(statement.start, statement.end, before + _elements(subject, rows, labels, number))


def _elements(subject: list[n.Term], rows: list[str], labels: Labels, number: int) -> str:
    """What stands for a text match: a row for each entity that still bears one of the labels."""
    place = term_text(subject[0])
    name, label, best, own = (f"?match{what}{number}" for what in ("Place", "Label", "Best", "Own"))
    path = "|".join(sorted(map(str, labels.label_properties)))
    borne = (
        f"VALUES ({name} {label} {best}) {{ {' '.join(rows)} }} "
        f"FILTER EXISTS {{ {name} {path} {own} FILTER(STR({own}) = {label}) }}"
    )
    if len(subject) > 1:
        inner = f"SELECT {name} (MAX({best}) AS {term_text(subject[1])}) WHERE {{ {borne} }} GROUP BY {name}"
        shown = term_text(subject[1])
    else:
        inner, shown = f"SELECT DISTINCT {name} WHERE {{ {borne} }}", ""
    if isinstance(subject[0], Variable):
        return f"{{ SELECT ({name} AS {place}) {shown} WHERE {{ {{ {inner} }} }} }}"
    if not shown:
        return f"FILTER EXISTS {{ {{ {inner} }} FILTER({name} = {place}) }}"
    return f"{{ SELECT {shown} WHERE {{ {{ {inner} }} FILTER({name} = {place}) }} }}"


def _is_list(triple: n.TriplePattern) -> bool:
    return triple.predicate in (RDF.first, RDF.rest)


def _members(head: n.Term, triples: list[n.TriplePattern]) -> list[n.Term]:
    members: list[n.Term] = []
    while head != RDF.nil:
        members += [t.object for t in triples if t.subject == head and t.predicate == RDF.first]
        head = next((t.object for t in triples if t.subject == head and t.predicate == RDF.rest), RDF.nil)
    return members
