"""`/documents`: what each text supports, and taking a text back."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pyoxigraph import NamedNode
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from curation.documents import Removal, RunFacts, StoredDocument, named_document
from curation.review.review_item import Reviewer, ReviewItem
from server.http.access.keys import Scope
from server.http.pages import Limit, Links, Needed, Offset, page
from server.http.reporting.statements import review_json, statement_json
from server.services import Services

State = Literal["accepted", "open", "rejected", "superseded", "any"]


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of the documents."""
    routes = APIRouter(tags=["documents"], dependencies=needs)
    reads = [Depends(services.guard.requires(Scope.READ))]
    removes = [Depends(services.guard.requires(Scope.EXTRACT))]
    documents = services.documents

    @routes.get("/documents", dependencies=reads)
    async def get_documents(
        links: Links,
        source: Annotated[str | None, Query(description="The source, exactly as it was sent.")] = None,
        text: Annotated[str | None, Query(description="Words that the text contains.")] = None,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """One page of documents, the last posted first, with the total."""

        def describe(iri: NamedNode) -> dict[str, Any]:
            accepted, waiting = documents.counts(iri)
            return {**_summary(documents.get(iri)), "statements": accepted, "open": waiting}

        return links(
            await run_in_threadpool(
                lambda: page("documents", documents.find(source=source, text=text), offset, limit, describe)
            )
        )

    @routes.get("/documents/{document}", dependencies=reads)
    async def get_document(
        document: str,
        links: Links,
        state: Annotated[State, Query(description="Only statements in this state.")] = "any",
        offset: Offset = 0,
        limit: Limit = 200,
    ) -> dict[str, Any]:
        """A document with a page of its statements: what it supports, and what was refused of it."""

        def described() -> dict[str, Any]:
            found = documents.get(named_document(document))
            runs = {run.iri: run for run in found.runs}
            rows = _statements(services, found, runs, state)
            about = {**_summary(found), "text": found.text, "runs": [_run(run) for run in found.runs]}
            return {**about, **page("statements", rows, offset, limit, lambda row: row)}

        return links(await run_in_threadpool(described))

    @routes.delete("/documents/{document}", dependencies=removes)
    async def delete_document(
        request: Request,
        document: str,
        reason: Annotated[str | None, Query(max_length=2000, description="Why.")] = None,
        by: Annotated[str | None, Query(max_length=200, description="Who, if no key says so.")] = None,
    ) -> dict[str, Any]:
        """Remove a document and exactly what only it supported, with what follows from it."""
        key = services.guard.key_name(request)
        who = Reviewer(by or key or "anonymous", key)
        iri = named_document(document)
        removal = await run_in_threadpool(lambda: documents.remove(iri, who, reason=reason))
        await run_in_threadpool(services.gaps.forget_text, iri.value)
        return _removal(removal)

    return routes


def _statements(
    services: Services, document: StoredDocument, runs: dict[Any, RunFacts], state: State
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    if state in ("accepted", "any"):
        for one in services.documents.supported(document.iri):
            evidence = one.evidence
            run = runs[evidence.run]
            rows.append(
                {
                    **statement_json(evidence.triple, evidence.support),
                    **_made_by(run),
                    "state": "accepted",
                    "reply": evidence.support.reply,
                    "run": run.iri.value,
                    "decision": evidence.decision.value if evidence.decision else None,
                    "others": one.others,
                }
            )
    for item in services.documents.waiting(document.iri):
        if state in (item.state.value, "any") and not (item.accepted and item.state.value != "open"):
            rows.append(_waiting(item, runs))
    return rows


def _waiting(item: ReviewItem, runs: dict[Any, RunFacts]) -> dict[str, Any]:
    described = review_json(item)
    run = runs.get(item.run)
    made = _made_by(run) if run is not None else {}
    kept = {name: described[name] for name in ("violations", "reply", "run", "decisions")}
    return {**described["statement"], **made, "state": item.state.value, "review": item.identifier, **kept}


def _made_by(run: RunFacts) -> dict[str, Any]:
    return {
        "model": run.model,
        "adapter": run.adapter,
        "prompt_version": run.prompt_version,
        "ontology_version": run.ontology_version,
        "ontologies": list(run.ontologies),
        "shapes_version": run.shapes_version,
    }


def _run(run: RunFacts) -> dict[str, Any]:
    return {"iri": run.iri.value, "started": run.started, "ended": run.ended, **_made_by(run)}


def _summary(document: StoredDocument) -> dict[str, Any]:
    last = document.runs[-1] if document.runs else None
    return {
        "id": document.identifier,
        "iri": document.iri.value,
        "source": document.source,
        "characters": None if document.text is None else len(document.text),
        "posted": last.started if last else None,
        "times": len(document.runs),
    }


def _removal(removal: Removal) -> dict[str, Any]:
    return {
        "removal": removal.iri.value,
        "removed": [statement_json(triple) for triple in removal.removed],
        "kept": removal.kept,
        "fallen": [statement_json(triple) for triple in removal.fallen],
        "revived": [statement_json(triple) for triple in removal.revived],
        "relations_removed": removal.relations,
        "inferences_removed": removal.inferences,
        "revision": removal.revision,
    }
