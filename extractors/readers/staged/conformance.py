"""Whether triples in words fit the ontology: a known relation, ends of fitting kinds (Nie et al., 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pyoxigraph import NamedNode

from extractors.prompting.prompt import IS_A
from extractors.prompting.reply import ReplyTriple
from ontology.articles import with_article
from ontology.schema import Schema
from ontology.terms import OntologyClass

__all__ = ["kinds_stated", "misfits"]

_ENTITY: Final = re.compile(r"^[\s\-*\d.)]*(?P<name>[^|\n]+?)\s*\|\s*(?P<kind>[^|\n]+?)\s*$", re.MULTILINE)


def kinds_stated(triples: Iterable[ReplyTriple], entities: str) -> Mapping[str, str]:
    """What kind of thing the model says each name is: in lines `name | kind`, and in triples."""
    found = {_key(match["name"]): match["kind"] for match in _ENTITY.finditer(entities)}
    found |= {_key(triple.subject): triple.object for triple in triples if triple.relation == IS_A}
    return found


def misfits(triples: Iterable[ReplyTriple], schema: Schema, kinds: Mapping[str, str]) -> Iterator[str]:
    """Say for a triple, by its number, that the ontology lacks its relation or that its ends do not fit."""
    for number, triple in enumerate(triples, 1):
        if triple.relation == IS_A:
            continue
        term = schema.find_property(triple.relation)
        if term is None:
            yield f'{number}: "{triple.relation}" is not among the relations.'
            continue
        for end, expected in ((triple.subject, term.domains), (triple.object, term.ranges)):
            wanted = [schema.classes[iri] for iri in expected if iri in schema.classes]
            kind = schema.find_class(kinds.get(_key(end), ""))
            if (
                wanted
                and len(wanted) == len(expected)
                and kind is not None
                and not _fits(schema, kind, wanted)
            ):
                named = " or ".join(sorted(one.label for one in wanted))
                asked, is_ = with_article(named), with_article(kind.label)
                yield f'{number}: "{term.label}" asks for {asked}, and "{end}" is {is_}.'


def _fits(schema: Schema, kind: OntologyClass, wanted: Iterable[OntologyClass]) -> bool:
    """Whether something of this kind is, or may turn out to be, of a wanted class."""
    around: frozenset[NamedNode] = schema.superclasses(kind.iri) | schema.subclasses(kind.iri)
    return any(one.iri in around for one in wanted)


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
