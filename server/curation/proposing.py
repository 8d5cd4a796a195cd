"""Unknown terms of texts as ontology engineers see them: lists, decisions, retries of their statements.

Accepted terms are exported as a fragment of OWL in Turtle, to paste into a file of the ontology.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from curation.proposals import Example, ProposalFilter, Proposals, ProposalStatus, TermKind, TermProposal, Use
from curation.review.review_item import PREFIX as ITEM_PREFIX
from curation.review.review_item import Reviewer, ReviewItem, State
from ontology import Schema
from ontology.labels import local_name
from ontology.terms import OntologyProperty, PropertyKind
from server.errors import InvalidBody
from server.http.pages import page
from server.http.reporting.statements import statement_json, violation_json
from server.rules.ruleset import Ruleset
from shapes.errors import ProposalDecided
from sparql.model.change import Statement, Violation
from sparql.model.vocabulary import RDF, RDFS, SH, UKG

if TYPE_CHECKING:
    from server.services import Services


def object_of(services: Services, declared: OntologyProperty, words: str) -> NamedNode | Literal | None:
    """The object that words stand for; None where no entity has that name, or no such value can be read."""
    from extractors.english.values import read_value

    if declared.kind is PropertyKind.OBJECT:
        return entity_named(services, words, declared.ranges)
    language = services.settings.language.partition(",")[0].strip()
    read = read_value(words, declared.ranges - {RDFS.Literal}, declared.unit, language=language)
    return read if isinstance(read, Literal) else None


def entity_named(services: Services, words: str, expected: frozenset[NamedNode]) -> NamedNode | None:
    """The one entity of the graph that words name."""
    from extractors.grounding.linking import Linker

    return Linker(services.labels, services.schema).link(words, expected=expected).iri


_ENOUGH = 0.8
"""The share of the uses that must agree on a domain or range."""
_MOST_IN_UNION = 3
_LEADING = re.compile(r"^(?:(?:an?|the|is|are|was|were|has been|have been)\s+)+", re.IGNORECASE)
_PREFIXES = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def fragment(proposals: Sequence[TermProposal], schema: Schema, base: str) -> str:
    """Turtle that declares each proposal, with the domain and range that its uses suggest.

    New terms go into the namespace that most terms of the ontology have, else under `base`.
    """
    namespace = _namespace(schema) or base + "term/"
    prefixes = {**_PREFIXES, **_prefix_for(namespace, schema)}
    names: set[str] = {iri.value for iri in (*schema.classes, *schema.properties)}
    parts = [_term(proposal, namespace, names, schema, prefixes) for proposal in proposals]
    head = "\n".join(f"@prefix {name}: <{iri}> ." for name, iri in sorted(prefixes.items()))
    note = (
        "# Words that texts use and the ontology does not have. Keep what you want, correct names,\n"
        "# definitions, domains and ranges, and paste it into a file of the ontology: what waits for\n"
        "# a word is tried again when its label is in force."
    )
    return "\n".join([note, head, "", *parts]) if parts else f"{note}\n# There are none.\n"


def _term(
    proposal: TermProposal, namespace: str, names: set[str], schema: Schema, prefixes: Mapping[str, str]
) -> str:
    label = _label(proposal)
    iri = _fresh(namespace + _local(proposal.kind, label), names)
    quotes = (example.support.quote for example in proposal.examples)
    quote = next((one for one in quotes if one), "")
    lines = [
        f"# Used {proposal.count} times in {proposal.documents} documents, first {proposal.first_seen[:10]}.",
        f"{_written(NamedNode(iri), prefixes)}",
        f"    a {_kind(proposal)} ;",
        f"    rdfs:label {_text(label)} ;",
    ]
    others = [form for form in proposal.forms if form.casefold() != label.casefold()]
    if others:
        lines.append(f"    skos:altLabel {' , '.join(_text(form) for form in others)} ;")
    lines.append(f"    skos:definition {_text(proposal.definition or quote or label)} ;")
    lines += [f"    {line} ;" for line in _axioms(proposal, schema, prefixes)]
    lines[-1] = lines[-1].removesuffix(" ;") + " ."
    return "\n".join(lines) + "\n"


def _axioms(proposal: TermProposal, schema: Schema, prefixes: Mapping[str, str]) -> Iterator[str]:
    ends = _common(proposal.subject_classes, proposal.count, schema)
    if proposal.kind is TermKind.CLASS:
        if len(ends) == 1:
            yield f"rdfs:subClassOf {_written(ends[0], prefixes)}"
        return
    if ends:
        yield f"rdfs:domain {_union(ends, prefixes)}"
    if proposal.datatypes and not proposal.object_classes:
        datatypes = sorted(proposal.datatypes, key=lambda one: one.value)
        if len(datatypes) == 1:
            yield f"rdfs:range {_written(datatypes[0], prefixes)}"
        return
    values = _common(proposal.object_classes, proposal.count, schema)
    if values:
        yield f"rdfs:range {_union(values, prefixes)}"


def _common(found: Mapping[NamedNode, int], count: int, schema: Schema) -> list[NamedNode]:
    """The one to three classes that most uses have between them, none below another; else none."""
    taken: list[NamedNode] = []
    covered = 0
    for class_, uses in sorted(found.items(), key=lambda pair: (-pair[1], pair[0].value)):
        if covered >= _ENOUGH * count:
            break
        covered += uses
        taken.append(class_)
    kept = [one for one in taken if not any(o != one and o in schema.superclasses(one) for o in taken)]
    return kept if covered >= _ENOUGH * count and len(kept) <= _MOST_IN_UNION else []


def _union(classes: Sequence[NamedNode], prefixes: Mapping[str, str]) -> str:
    written = [_written(one, prefixes) for one in classes]
    return written[0] if len(written) == 1 else f"[ a owl:Class ; owl:unionOf ( {' '.join(written)} ) ]"


def _kind(proposal: TermProposal) -> str:
    if proposal.kind is TermKind.CLASS:
        return "owl:Class"
    is_value = proposal.datatypes and not proposal.object_classes
    return "owl:DatatypeProperty" if is_value else "owl:ObjectProperty"


def _label(proposal: TermProposal) -> str:
    """The plainest form: without the article or the auxiliary that running text puts before it."""
    bare = re.sub(
        r"^(?:(?:an?|the|is|are|was|were|has been|have been)\s+)+", "", proposal.words, flags=re.IGNORECASE
    )
    return bare or proposal.words


def _local(kind: TermKind, label: str) -> str:
    parts = re.findall(r"[A-Za-z0-9]+", label) or ["term"]
    joined = "".join(part[:1].upper() + part[1:] for part in parts)
    if kind is TermKind.PROPERTY:
        joined = joined[:1].lower() + joined[1:]
    return joined if not joined[0].isdigit() else f"_{joined}"


def _fresh(iri: str, names: set[str]) -> str:
    number, found = 2, iri
    while found in names:
        found, number = f"{iri}{number}", number + 1
    names.add(found)
    return found


def _namespace(schema: Schema) -> str | None:
    own = [one.iri.value for one in schema.classes.values() if not one.borrowed]
    own += [one.iri.value for one in schema.properties.values() if not one.borrowed]
    found = Counter(iri[: max(iri.rfind("#"), iri.rfind("/")) + 1] for iri in own)
    return found.most_common(1)[0][0] if found else None


def _prefix_for(namespace: str, schema: Schema) -> dict[str, str]:
    """The prefixes of the files, with one for the namespace of the new terms."""
    known = {name: iri for name, iri in schema.prefixes.items() if name and name not in _PREFIXES}
    if namespace in known.values():
        return known
    return {**known, "": namespace}


def _written(node: NamedNode, prefixes: Mapping[str, str]) -> str:
    best = max(
        ((name, iri) for name, iri in prefixes.items() if node.value.startswith(iri)),
        key=lambda pair: len(pair[1]),
        default=None,
    )
    if best is not None:
        local = node.value.removeprefix(best[1])
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", local):
            return f"{best[0]}:{local}"
    return str(node)


def _text(words: str) -> str:
    return str(Literal(" ".join(words.split()), language="en"))


MOST_RETRIED = 1_000
"""At most so many waiting statements are tried again at once; `left` counts the others."""
_log = logging.getLogger("urbankg.rules")


@dataclass
class Retried:
    """The result of trying the statements that waited for a term.

    `unread` are those whose object is neither a known entity nor a value of the property.
    """

    let_in: list[NamedNode] = field(default_factory=list)
    refused: dict[NamedNode, tuple[Violation, ...]] = field(default_factory=dict)
    unread: list[NamedNode] = field(default_factory=list)
    left: int = 0

    def json(self) -> dict[str, Any]:
        """As a member of the answer."""
        return {
            "let_in": [_identifier(iri) for iri in self.let_in],
            "refused": [
                {"id": _identifier(iri), "violations": [violation_json(one) for one in violations]}
                for iri, violations in self.refused.items()
            ],
            "unread": [_identifier(iri) for iri in self.unread],
            "left": self.left,
        }


class ProposalService:
    """Reads and decides for the routes and the command line; blocks, so call it from a thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._proposals = services.proposals

    def page(self, wanted: ProposalFilter, offset: int, limit: int) -> dict[str, Any]:
        """One page of proposals, the most used first, with the total."""
        found = self._proposals.find(wanted)
        return page(
            "proposals", found, offset, limit, lambda iri: self._json(self._proposals.get(iri, examples=3))
        )

    def show(self, iri: NamedNode) -> dict[str, Any]:
        """One proposal with all its examples. Raises `ProposalUnknown`."""
        return self._json(self._proposals.get(iri, examples=MOST_RETRIED))

    def decide(
        self,
        decision: str,
        iri: NamedNode,
        by: Reviewer,
        term: NamedNode | None = None,
        reason: str | None = None,
    ) -> dict[str, Any]:
        """Accept, dismiss, reopen, or try the statements of an accepted one again.

        Raises what `curation.proposals.Proposals` raises, and `InvalidBody`.
        """
        retried = None
        if decision == "accept":
            if term is None:
                raise InvalidBody([("as", "give the IRI of the term that the word means")])
            self._proposals.accept(iri, term, self._services.schema, by, reason=reason)
            retried = self._retry(iri, by)
        elif decision == "dismiss":
            self._proposals.dismiss(iri, by, reason=reason or "")
        elif decision == "reopen":
            self._proposals.reopen(iri, by, reason=reason)
        else:
            retried = self._retry(iri, by)
        answer: dict[str, Any] = {"proposal": self.show(iri)}
        return answer if retried is None else {**answer, "retried": retried.json()}

    def export(self, wanted: ProposalFilter) -> str:
        """The proposals as a Turtle fragment to paste into a file of the ontology."""
        from server.curation.proposing import fragment

        found = [self._proposals.get(iri) for iri in self._proposals.find(wanted)]
        return fragment(found, self._services.schema, self._services.settings.base_iri)

    def settle(self, rules: Ruleset) -> None:
        """Accept the open proposals whose words the ontology now has, and try their statements again."""
        by = _rules_name(rules)
        for iri, term in self._proposals.named_by(rules.schema).items():
            self._proposals.accept(iri, term, rules.schema, by, reason=_HAS_TERM)
            retried = self._retry(iri, by)
            _log.info(
                "The ontology now has %s: %d waiting statements accepted", term.value, len(retried.let_in)
            )

    def _retry(self, iri: NamedNode, by: Reviewer) -> Retried:
        """Judge the waiting statements again with the term in place of the word."""
        proposal = self._proposals.get(iri, examples=0)
        if proposal.accepted_as is None:
            raise ProposalDecided(proposal.identifier, proposal.status.value, "retry")
        result = Retried()
        reason = f'"{proposal.words}" means {self._services.schema.written(proposal.accepted_as)}.'
        for examples in self._by_document(iri, result):
            proposed: dict[NamedNode, Sequence[Statement]] = {}
            for example in examples:
                item = self._waiting(example)
                if item is None:
                    continue
                meant = self._meaning(example.use, proposal.accepted_as)
                if meant is None:
                    result.unread.append(item.iri)
                    continue
                proposed[item.iri] = (item.stating(meant),)
                for other in self._beside(item):
                    proposed.setdefault(other.iri, (Statement(other.triple, other.support.confidence),))
            if proposed:
                outcome = self._services.decisions.accept_as(proposed, by, reason=reason)
                result.let_in += outcome.done
                result.refused.update(outcome.refused)
        return result

    def _by_document(self, iri: NamedNode, result: Retried) -> Iterator[list[Example]]:
        """The uses of a word, grouped by text, since the statements of one text are judged together."""
        examples = self._proposals.examples(iri)
        result.left = max(0, len(examples) - MOST_RETRIED)
        groups: dict[object, list[Example]] = {}
        for example in examples[:MOST_RETRIED]:
            groups.setdefault(example.document or example.source, []).append(example)
        yield from groups.values()

    def _waiting(self, example: Example) -> ReviewItem | None:
        review = self._services.review
        if example.item is None or not review.exists(example.item):
            return None
        item = review.get(example.item)
        return item if item.state is State.OPEN else None

    def _beside(self, item: ReviewItem) -> Iterator[ReviewItem]:
        """Items of the same text and subject that wait only for the others, such as its name."""
        review = self._services.review
        if item.document is None or not isinstance(item.triple.subject, NamedNode | BlankNode):
            return
        for iri in review.about(item.triple.subject) & review.of_document(item.document):
            other = review.get(iri)
            if (
                other.iri != item.iri
                and other.state is State.OPEN
                and other.triple.subject == item.triple.subject
                and all(one.component in SH or one.component == UKG.NothingStands for one in other.violations)
            ):
                yield other

    def _meaning(self, use: Use, term: NamedNode) -> Triple | None:
        """The waiting statement in the ontology's terms; None where its object cannot be read."""
        subject, value = use.triple.subject, use.triple.object
        if use.kind is TermKind.CLASS:
            return Triple(subject, RDF.type, term)
        schema = self._services.schema
        declared = schema.properties[term]
        if not isinstance(value, Literal):
            return Triple(subject, term, value) if declared.kind is PropertyKind.OBJECT else None
        meant = object_of(self._services, declared, value.value)
        return None if meant is None else Triple(subject, term, meant)

    def _json(self, proposal: TermProposal) -> dict[str, Any]:
        schema = self._services.schema
        return {
            "id": proposal.identifier,
            "iri": proposal.iri.value,
            "kind": proposal.kind.value,
            "term": proposal.words,
            "forms": list(proposal.forms),
            "status": proposal.status.value,
            "accepted_as": proposal.accepted_as.value if proposal.accepted_as else None,
            "definition": proposal.definition,
            "count": proposal.count,
            "documents": proposal.documents,
            "first_seen": proposal.first_seen,
            "last_seen": proposal.last_seen,
            "domain": _counted(proposal.subject_classes, schema),
            "range": _counted(proposal.object_classes, schema),
            "datatypes": _counted(proposal.datatypes, schema),
            "examples": [_example_json(example) for example in proposal.examples],
            "decisions": [
                {"iri": d.iri.value, "outcome": d.outcome, "by": d.by, "at": d.at, "reason": d.reason}
                for d in proposal.decisions
            ],
        }


_HAS_TERM = "The ontology now in force has a term of this name."


def settling(proposals: Proposals, rules: Ruleset) -> tuple[list[Quad], list[Quad]]:
    """The quads to add and to remove at a start whose ontology has terms that were proposed.

    Their statements are not tried again here: an engineer does that with the decision `retry`.
    """
    added: list[Quad] = []
    removed: list[Quad] = []
    for iri, term in proposals.named_by(rules.schema).items():
        found = proposals.get(iri, examples=0)
        more, fewer = proposals.accepting(found, term, _rules_name(rules), _HAS_TERM)
        added += more
        removed += fewer
    return added, removed


def term_of(text: str | None) -> NamedNode | None:
    """The term that a client names. Raises `InvalidBody` for what is no IRI."""
    try:
        return None if text is None else NamedNode(text)
    except ValueError as error:
        raise InvalidBody([("as", f"'{text}' is not an absolute IRI")]) from error


def proposal_filter(
    status: str, kind: str | None = None, text: str | None = None, least: int = 1
) -> ProposalFilter:
    """A filter from what a client sent. Raises `InvalidBody`."""
    if status not in (*ProposalStatus, "any"):
        raise InvalidBody([("status", f"'{status}' is none of {', '.join((*ProposalStatus, 'any'))}")])
    if kind is not None and kind not in tuple(TermKind):
        raise InvalidBody([("kind", f"'{kind}' is none of {', '.join(TermKind)}")])
    wanted = None if status == "any" else ProposalStatus(status)
    return ProposalFilter(wanted, None if kind is None else TermKind(kind), text, least)


def _example_json(example: Example) -> dict[str, Any]:
    return {
        "term": example.use.words,
        "statement": statement_json(example.use.triple, example.support),
        "names": {"subject": example.use.subject_name or None, "object": example.use.object_name or None},
        "document": example.document.value if example.document else None,
        "source": example.source,
        "seen": example.created,
        "review": _identifier(example.item) if example.item else None,
    }


def _counted(found: Mapping[NamedNode, int], schema: Schema) -> list[dict[str, Any]]:
    ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0].value))
    return [
        {
            "iri": iri.value,
            "label": schema.classes[iri].label if iri in schema.classes else local_name(iri.value),
            "count": count,
        }
        for iri, count in ordered
    ]


def _identifier(item: NamedNode) -> str:
    return item.value.removeprefix(ITEM_PREFIX)


def _rules_name(rules: Ruleset) -> Reviewer:
    return Reviewer(f"rules {rules.schema.version}/{rules.gate.version}")


def _sorted(nodes: Iterable[NamedNode]) -> tuple[NamedNode, ...]:
    return tuple(sorted(nodes, key=lambda node: node.value))
