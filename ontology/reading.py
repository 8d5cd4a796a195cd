"""Reads classes and properties from the triples of an ontology, and finds declarations that contradict."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyoxigraph import Literal, NamedNode

from ontology import vocabulary as v
from ontology.errors import OntologyTermError
from ontology.graph import Graph
from ontology.labels import local_name, split_camel_case
from ontology.loading import OntologyFile, line_of
from ontology.terms import OntologyClass, OntologyProperty, PropertyKind

_KINDS = {
    v.OBJECT_PROPERTY: PropertyKind.OBJECT,
    v.DATATYPE_PROPERTY: PropertyKind.DATATYPE,
    v.ANNOTATION_PROPERTY: PropertyKind.ANNOTATION,
}
_DESCRIBING = (v.LABEL, v.PREFERRED_LABEL, v.DEFINITION, v.COMMENT)
_OBJECT_ONLY = (v.SYMMETRIC, v.TRANSITIVE)


def read_classes(graph: Graph) -> dict[NamedNode, OntologyClass]:
    """The named classes: declared as owl:Class or rdfs:Class, or with a superclass."""
    found = dict.fromkeys(graph.instances(v.OWL_CLASS, v.RDFS_CLASS))
    found |= dict.fromkeys(child for child, _ in graph.pairs(v.SUBCLASS_OF) if isinstance(child, NamedNode))
    borrowed = _borrowed(graph, found)
    return {
        iri: OntologyClass(
            iri=iri,
            label=_label(graph, iri),
            alternative_labels=_alternative_labels(graph, iri),
            definition=_definition(graph, iri),
            deprecated=_is_deprecated(graph, iri),
            borrowed=iri in borrowed,
            name_words=_name_words(graph, iri),
        )
        for iri in found
    }


def read_properties(graph: Graph) -> dict[NamedNode, OntologyProperty]:
    """The properties: declared by OWL's types, as rdf:Property, or by an OWL characteristic."""
    types = (*_KINDS, v.RDF_PROPERTY, v.FUNCTIONAL, *_OBJECT_ONLY)
    found = list(graph.instances(*types))
    borrowed = _borrowed(graph, found)
    inverses = _inverses(graph)
    datatypes = set(graph.instances(v.DATATYPE))
    return {iri: _read_property(graph, iri, inverses, datatypes, iri in borrowed) for iri in found}


def _read_property(
    graph: Graph,
    iri: NamedNode,
    inverses: dict[NamedNode, NamedNode],
    datatypes: set[NamedNode],
    borrowed: bool,
) -> OntologyProperty:
    types = set(graph.objects(iri, v.TYPE))
    domains = _expressions(graph, iri, v.DOMAIN, *v.DOMAIN_INCLUDES)
    written = _expressions(graph, iri, v.RANGE, *v.RANGE_INCLUDES)
    ranges = frozenset(written)
    if graph.objects(iri, *v.RANGE_INCLUDES):
        ranges -= {v.LITERAL}
    units = [unit for unit in graph.objects(iri, *v.UNIT) if isinstance(unit, NamedNode)]
    return OntologyProperty(
        iri=iri,
        kind=_kind(types, ranges, datatypes),
        label=_label(graph, iri),
        alternative_labels=_alternative_labels(graph, iri),
        definition=_definition(graph, iri),
        domains=frozenset(domains),
        ranges=ranges,
        unit=units[0] if units else None,
        functional=v.FUNCTIONAL in types,
        symmetric=v.SYMMETRIC in types,
        transitive=v.TRANSITIVE in types,
        inverse=inverses.get(iri),
        deprecated=_is_deprecated(graph, iri),
        borrowed=borrowed,
        usual_domain=_class(graph, iri, v.USUAL_DOMAIN),
        usual_range=_class(graph, iri, v.USUAL_RANGE),
        domain_order=domains,
        range_order=written,
        views=frozenset(one.value for one in graph.literals(iri, v.VIEW)),
    )


def _is_deprecated(graph: Graph, iri: NamedNode) -> bool:
    """By owl:deprecated, or by the types that OWL has for it."""
    return graph.is_true(iri, v.DEPRECATED) or not v.DEPRECATED_KINDS.isdisjoint(graph.objects(iri, v.TYPE))


def _class(graph: Graph, iri: NamedNode, predicate: NamedNode) -> NamedNode | None:
    return next((one for one in graph.objects(iri, predicate) if isinstance(one, NamedNode)), None)


def _kind(types: Collection[object], ranges: frozenset[NamedNode], datatypes: set[NamedNode]) -> PropertyKind:
    for declared, kind in _KINDS.items():
        if declared in types:
            return kind
    return (
        PropertyKind.DATATYPE
        if any(_is_datatype(value, datatypes) for value in ranges)
        else PropertyKind.OBJECT
    )


def _is_datatype(iri: NamedNode, datatypes: set[NamedNode]) -> bool:
    return iri.value.startswith(v.XSD) or iri in (v.LITERAL, v.LANG_STRING) or iri in datatypes


def _expressions(graph: Graph, iri: NamedNode, *predicates: NamedNode) -> tuple[NamedNode, ...]:
    """The classes that a property's domain or range allows.

    Several rdfs:domain axioms intersect in OWL; they are read as alternatives here, which is what most
    files with several mean, and offers a property too often rather than never.
    """
    found: dict[NamedNode, None] = {}
    for expression in graph.objects(iri, *predicates):
        found |= dict.fromkeys(graph.alternatives(expression))
    return tuple(found)


def _inverses(graph: Graph) -> dict[NamedNode, NamedNode]:
    found: dict[NamedNode, NamedNode] = {}
    for one, other in graph.pairs(v.INVERSE_OF):
        if isinstance(one, NamedNode) and isinstance(other, NamedNode):
            found.setdefault(one, other)
            found.setdefault(other, one)
    return found


def _borrowed(graph: Graph, terms: Collection[NamedNode]) -> set[NamedNode]:
    """The terms of another vocabulary that is not loaded, which rdfs:isDefinedBy names.

    A term with an IRI of a loaded ontology is the file's own, even where rdfs:isDefinedBy names a page about
    it, as in DCAT; so is one that the file describes, unless its IRI is of what rdfs:isDefinedBy names. None
    where all of them are of another vocabulary: then the file is the vocabulary itself.
    """
    loaded = {iri.value.rstrip("#/") for iri in graph.instances(v.ONTOLOGY)}
    found: set[NamedNode] = set()
    for term in terms:
        stated = [source for source in graph.objects(term, v.DEFINED_BY) if isinstance(source, NamedNode)]
        sources = {source.value.rstrip("#/") for source in stated}
        if not sources or sources & loaded or _is_in(term, loaded):
            continue
        if _is_in(term, sources) or not graph.objects(term, *_DESCRIBING):
            found.add(term)
    return found if len(found) < len(terms) else set()


def _is_in(term: NamedNode, namespaces: Collection[str]) -> bool:
    """Whether the IRI of a term goes on from one of these."""
    return any(term.value.startswith((one + "#", one + "/")) for one in namespaces)


def _by_language(labels: list[Literal]) -> list[Literal]:
    """English first, then without a language, then the others by language; else as written."""

    def rank(label: Literal) -> tuple[int, str]:
        language = (label.language or "").lower()
        if language.split("-")[0] == "en":
            return (0, "")
        return (2, language) if language else (1, "")

    return sorted(labels, key=rank)


def _label(graph: Graph, iri: NamedNode) -> str:
    labels = _by_language(graph.literals(iri, v.LABEL)) or _by_language(
        graph.literals(iri, v.PREFERRED_LABEL)
    )
    return labels[0].value.strip() if labels else split_camel_case(local_name(iri.value))


def _alternative_labels(graph: Graph, iri: NamedNode) -> tuple[str, ...]:
    written = graph.literals(iri, v.ALTERNATIVE_LABEL, v.LABEL, v.PREFERRED_LABEL, v.HIDDEN_LABEL)
    labels = dict.fromkeys(label.value.strip() for label in written)
    labels.pop(_label(graph, iri), None)
    foreign = {word for word, _ in _name_words(graph, iri)}
    own = {one.value.strip() for one in written if not _is_foreign(graph, iri, one)}
    return tuple(label for label in labels if label in own or label not in foreign)


def _name_words(graph: Graph, iri: NamedNode) -> tuple[tuple[str, str], ...]:
    """The hidden labels of another language than that of the label, with their language."""
    return tuple(
        (one.value.strip(), (one.language or "").split("-")[0].lower())
        for one in graph.literals(iri, v.HIDDEN_LABEL)
        if _is_foreign(graph, iri, one)
    )


def _is_foreign(graph: Graph, iri: NamedNode, label: Literal) -> bool:
    """Whether a hidden label has another language than the term's label."""
    main = _by_language(graph.literals(iri, v.LABEL)) or _by_language(graph.literals(iri, v.PREFERRED_LABEL))
    here, there = ((one.language or "").split("-")[0].lower() for one in (label, main[0] if main else label))
    hidden = label in set(graph.literals(iri, v.HIDDEN_LABEL))
    return hidden and bool(here) and bool(there) and here != there


def _definition(graph: Graph, iri: NamedNode) -> str:
    texts = _by_language(graph.literals(iri, v.DEFINITION)) or _by_language(graph.literals(iri, v.COMMENT))
    return texts[0].value.strip() if texts else ""


_MUST_BE_TERMS = (v.SUBCLASS_OF, v.SUBPROPERTY_OF, v.DOMAIN, v.RANGE, v.INVERSE_OF, v.DISJOINT_WITH)


def check_terms(files: Sequence[OntologyFile], graph: Graph) -> None:
    """Raise OntologyTermError for the first term whose declarations cannot both hold.

    These are: a property of things that is also one of literals (OWL 2 DL, section 5.8.1), a class that
    is also a datatype, and a literal where an axiom needs a class or property.
    """
    both = set(graph.instances(v.OBJECT_PROPERTY)) & set(graph.instances(v.DATATYPE_PROPERTY))
    for iri in sorted(both, key=lambda term: term.value):
        raise _term_error(
            files,
            iri,
            "is declared both an owl:ObjectProperty and an owl:DatatypeProperty.",
            "Keep the one that fits its values: things or literals.",
        )
    both = set(graph.instances(v.OWL_CLASS)) & set(graph.instances(v.DATATYPE))
    for iri in sorted(both, key=lambda term: term.value):
        raise _term_error(
            files, iri, "is declared both an owl:Class and an rdfs:Datatype.", "Keep one of the two."
        )
    for predicate in _MUST_BE_TERMS:
        for subject, value in graph.pairs(predicate):
            if isinstance(value, Literal) and isinstance(subject, NamedNode):
                raise _term_error(
                    files,
                    subject,
                    f'has the text "{value.value}" as {predicate.value}.',
                    "Write an IRI there, such as a prefixed name without quotation marks.",
                )


def _term_error(files: Sequence[OntologyFile], iri: NamedNode, problem: str, fix: str) -> OntologyTermError:
    for file in files:
        line = line_of(file, iri)
        if line is not None:
            return OntologyTermError(iri.value, problem, fix, file=file.path, line=line)
    return OntologyTermError(iri.value, problem, fix)
