"""Whether the values of a filter exist: of a misspelt one the answer would be that nothing waits.

A value that exists and that no item has is fine; a value that neither rules, graph nor queue know is refused
with the nearest one that they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from itertools import chain

from pyoxigraph import Literal, NamedNode

from curation.review.review_item import State
from curation.review.review_queue import ReviewQueue
from curation.review.review_search import ReviewFilter
from server.errors import UnknownValues
from server.services import Services
from sparql.model.source import Term
from sparql.model.vocabulary import DCTERMS, DEFAULT, PROV, PROVENANCE, RDF, REVIEW, SH, UKG

_OWN_COMPONENTS = (
    *("UnknownTerm", "DeprecatedTerm", "MalformedLiteral", "RepairedGeometry", "OutsideExtent", "NotJudged"),
    *(
        "ContradictsGeometry",
        "AmbiguousName",
        "AmbiguousPlace",
        "NameOfKnown",
        "Namesake",
        "PossibleDuplicate",
        "MoreExact",
        "RejectedBefore",
    ),
)
_MOST_LISTED = 12


class FilterValues:
    """Checks filters of the review queue against rules, graph and queue."""

    def __init__(self, services: Services, review: ReviewQueue) -> None:
        self._services = services
        self._store = services.store
        self._review = review

    def check(self, wanted: ReviewFilter) -> None:
        """Raises `UnknownValues`."""
        checks: list[tuple[str, Term | str | None, Callable[[], bool], Callable[[], Iterable[str]]]] = [
            ("component", _short(wanted), self._is_component(wanted), self._short_components),
            ("shape", wanted.shape, self._is_shape(wanted), self._shapes),
            ("class", wanted.class_, self._is_class(wanted), self._classes),
            ("predicate", wanted.predicate, self._is_predicate(wanted), self._predicates),
            ("document", wanted.document, self._is_document(wanted), list),
            ("entity", wanted.entity, self._is_entity(wanted), list),
            ("source", wanted.source, self._is_source(wanted), self._sources),
            ("group", wanted.group, self._is_group(wanted), list),
        ]
        problems = [
            (name, _unknown_value(name, value, list(known())))
            for name, value, holds, known in checks
            if value is not None and not holds()
        ]
        low, high = wanted.min_confidence, wanted.max_confidence
        if low is not None and high is not None and low > high:
            problems.append(("min_confidence", f"{low} is above max_confidence, {high}: no item has both"))
        if problems:
            raise UnknownValues(problems)

    def notes(self, wanted: ReviewFilter) -> list[str]:
        """What is worth saying of a filter: persons are in no list, so their names cannot be refused."""
        if not wanted.assignee or self._any(None, UKG.assignee, Literal(wanted.assignee), REVIEW):
            return []
        names = sorted({q.object.value for q in self._store.match_quads(None, UKG.assignee, None, REVIEW)
                        if isinstance(q.object, Literal)})  # fmt: skip
        near = get_close_matches(wanted.assignee, names, 1)
        message = f"No item is assigned to '{wanted.assignee}'."
        return [f"{message} Did you mean '{near[0]}'?" if near else message]

    def _is_component(self, wanted: ReviewFilter) -> Callable[[], bool]:
        return lambda: (
            wanted.component is not None
            and (
                wanted.component.value in set(self._components())
                or self._any(None, SH.sourceConstraintComponent, wanted.component, REVIEW)
            )
        )

    def _is_shape(self, wanted: ReviewFilter) -> Callable[[], bool]:
        shape = wanted.shape
        return lambda: (
            shape is not None
            and (shape.value in self._shapes() or self._any(None, SH.sourceShape, shape, REVIEW))
        )

    def _is_class(self, wanted: ReviewFilter) -> Callable[[], bool]:
        return lambda: (
            wanted.class_ in self._services.schema.classes
            or self._any(None, RDF.type, wanted.class_, DEFAULT)
            or self._any(None, UKG.object, wanted.class_, REVIEW)
        )

    def _is_predicate(self, wanted: ReviewFilter) -> Callable[[], bool]:
        predicate = wanted.predicate
        return lambda: (
            predicate in self._services.schema.properties
            or self._any(None, UKG.predicate, predicate, REVIEW)
            or (predicate is not None and any(True for _ in self._store.match(None, predicate, None)))
        )

    def _is_document(self, wanted: ReviewFilter) -> Callable[[], bool]:
        return lambda: (
            self._any(wanted.document, None, None, PROVENANCE)
            or self._any(None, PROV.wasDerivedFrom, wanted.document, REVIEW)
        )

    def _is_entity(self, wanted: ReviewFilter) -> Callable[[], bool]:
        entity = wanted.entity
        return lambda: (
            self._any(entity, None, None, DEFAULT)
            or self._any(None, None, entity, DEFAULT)
            or (entity is not None and bool(self._review.about(entity)))
        )

    def _is_source(self, wanted: ReviewFilter) -> Callable[[], bool]:
        source = None if wanted.source is None else Literal(wanted.source)
        return lambda: any(self._any(None, DCTERMS.source, source, graph) for graph in (REVIEW, PROVENANCE))

    def _is_group(self, wanted: ReviewFilter) -> Callable[[], bool]:
        # What is settled is read from the store, item by item.
        states = dict.fromkeys((wanted.state, State.OPEN, None))
        search = self._review.search
        return lambda: any(
            wanted.group in search.causes(search.find(ReviewFilter(state=state))) for state in states
        )

    def _components(self) -> Iterable[str]:
        from rdflib import SH as R_SH

        standard = (name for name in R_SH.__annotations__ if name.endswith("ConstraintComponent"))
        return chain((SH.iri + name for name in standard), (UKG.iri + name for name in _OWN_COMPONENTS))

    def _short_components(self) -> Iterable[str]:
        return (one.removeprefix(SH.iri).removeprefix(UKG.iri) for one in self._components())

    def _shapes(self) -> list[str]:
        return list(self._services.rule_registry.current.gate.pairs.shapes)

    def _classes(self) -> Iterable[str]:
        return (iri.value for iri in self._services.schema.classes)

    def _predicates(self) -> Iterable[str]:
        return (iri.value for iri in self._services.schema.properties)

    def _sources(self) -> Iterable[str]:
        for graph in (REVIEW, PROVENANCE):
            for quad in self._store.match_quads(None, DCTERMS.source, None, graph):
                if isinstance(quad.object, Literal):
                    yield quad.object.value

    def _any(
        self, subject: Term | None, predicate: NamedNode | None, value: Term | None, graph: object
    ) -> bool:
        found = self._store.match_quads(subject, predicate, value, graph)  # type: ignore[arg-type]
        return next(iter(found), None) is not None


def _short(wanted: ReviewFilter) -> str | None:
    """The component of a filter as clients write it: by its name in SHACL and in the system vocabulary."""
    if wanted.component is None:
        return None
    return wanted.component.value.removeprefix(SH.iri).removeprefix(UKG.iri)


def _unknown_value(name: str, value: Term | str, known: list[str]) -> str:
    """What is said of a value that nothing has, with the nearest one; names count more than namespaces."""
    text = value if isinstance(value, str) else getattr(value, "value", str(value))
    by_name: dict[str, list[str]] = {}
    for one in sorted(known):
        by_name.setdefault(_local(one).casefold(), []).append(one)
    near = get_close_matches(_local(text).casefold(), by_name, 1)
    message = f"there is no {name} '{text}'"
    if near:
        return f"{message}; did you mean '{get_close_matches(text, by_name[near[0]], 1, 0)[0]}'?"
    if known and len(set(known)) <= _MOST_LISTED:
        return f"{message}. Known here: {', '.join(sorted(set(known)))}"
    return f"{message} in rules, graph or queue. GET /review/facets counts the values that items have"


def _local(text: str) -> str:
    return text.replace("#", "/").rstrip("/").rpartition("/")[2].removesuffix("ConstraintComponent")
