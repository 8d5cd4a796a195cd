"""`GET /suggest`: names, classes and properties that begin with or contain some words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pyoxigraph import NamedNode
from starlette.concurrency import run_in_threadpool

from ontology import Schema
from ontology.terms import OntologyClass, OntologyProperty
from server.http.access.keys import Scope
from server.http.pages import Needed
from server.services import Services

_Kind = Literal["entity", "class", "property"]


def router(services: Services, *needs: Needed) -> APIRouter:
    """The route that completes words."""
    routes = APIRouter(tags=["entities"], dependencies=[*needs, Depends(services.guard.requires(Scope.READ))])

    @routes.get("/suggest")
    async def get_suggestions(
        text: Annotated[str, Query(min_length=1, max_length=200, description="Words, or the start of one.")],
        kind: Annotated[_Kind | None, Query(description="Only of this kind.")] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> dict[str, Any]:
        """What the words may mean: `iri`, `label`, `kind` and `classes` of each, the best match first."""
        return {"suggestions": await run_in_threadpool(_suggested, services, text, kind, limit)}

    return routes


def _suggested(services: Services, text: str, kind: _Kind | None, limit: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if kind in (None, "entity"):
        entries = services.labels.containing(text, limit)
        found += [_suggestion("entity", one.iri, one.label, one.classes) for one in entries]
    if kind != "entity":
        found += _terms(services.schema, text, kind)
    return found[:limit]


def _terms(schema: Schema, text: str, kind: _Kind | None) -> list[dict[str, Any]]:
    """Classes and properties of the ontology with these words in a label, those that begin so first."""
    words = text.casefold().strip()
    terms: list[tuple[str, OntologyClass | OntologyProperty]] = []
    terms += [("class", one) for one in schema.classes.values() if kind in (None, "class")]
    terms += [("property", one) for one in schema.properties.values() if kind in (None, "property")]
    found = []
    for name, term in terms:
        positions = [label.casefold().find(words) for label in (term.label, *term.alternative_labels)]
        if any(position >= 0 for position in positions):
            suggestion = _suggestion(name, term.iri, term.label, ())
            found.append((0 not in positions, len(term.label), term.iri.value, suggestion))
    return [suggestion for *_, suggestion in sorted(found, key=lambda one: one[:3])]


def _suggestion(kind: str, iri: NamedNode, label: str, classes: Iterable[NamedNode]) -> dict[str, Any]:
    return {"iri": iri.value, "label": label, "kind": kind, "classes": sorted(one.value for one in classes)}
