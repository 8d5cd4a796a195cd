"""Proposals as a fragment of OWL in Turtle, to paste into a file of the ontology and to edit there."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pyoxigraph import Literal, NamedNode

from curation.proposal import TermKind, TermProposal
from ontology import Schema

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
