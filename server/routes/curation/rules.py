"""The rules in force and how to change them: `/rules`, `/ontologies/FILE`, `/shapes/FILE` ..."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final

from anyio import CapacityLimiter
from fastapi import APIRouter, Depends, Query
from pydantic import Field
from pydantic.config import JsonDict
from pyoxigraph import NamedNode, RdfFormat
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ontology.loading import CATALOG
from server.errors import InvalidBody, MalformedBody
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import body_schema, read_body, read_json
from server.http.bodies.streaming import while_wanted
from server.http.pages import Needed
from server.message import IRI_FORM, AbsoluteIri, Message, Name
from server.rules.checking import Reasoner, check_shallow, reasoned
from server.rules.edits import Edit, Kind
from server.rules.rule_effects import impact_json
from server.rules.rule_registry import RuleRegistry
from server.rules.ruleset import Ruleset, examples_of, turtle
from server.services import Services
from sparql.protocol.formats import GRAPH_FORMATS, choose
from sparql.protocol.requests import COMPRESSED
from sparql.provenance.term_rewrites import LEAVE, Rewriting

_VALUES: Final = ("true", "false", "1", "0", "")
_FLAG: Final[JsonDict] = {"enum": list(_VALUES)}
_DryRun = Annotated[
    str,
    Query(
        alias="dry-run",
        description="`true`: only say what would follow; nothing is changed.",
        json_schema_extra=_FLAG,
    ),
]
_Rewrite = Annotated[
    str,
    Query(
        description="`true`: statements with a term which the edit removes or deprecates use its "
        "successor instead, in the same commit.",
        json_schema_extra=_FLAG,
    ),
]
_WAITING: Final = 8
"""Edits on threads at a time; an edit cancels dry runs of its files, also those that wait there."""
_TYPES = {".ttl": "text/turtle", ".nt": "application/n-triples", ".xml": "application/xml"}


class EditMessage(Message):
    """Files by name with their new text; null takes a file out."""

    ontology: dict[Name, str | None] = Field(default_factory=dict)
    shapes: dict[Name, str | None] = Field(default_factory=dict)

    def edit(self) -> Edit:
        """The same as bytes."""
        return Edit(
            {name: None if text is None else text.encode() for name, text in self.ontology.items()},
            {name: None if text is None else text.encode() for name, text in self.shapes.items()},
        )


class RulesMessage(EditMessage):
    """The same, with old and new IRIs of terms; they take precedence over successors in the ontology."""

    rewrites: dict[AbsoluteIri, AbsoluteIri] = Field(default_factory=dict)

    def given(self) -> dict[NamedNode, NamedNode]:
        """The old and new terms. Raises `InvalidBody`."""
        return {_iri(old, old): _iri(old, new) for old, new in self.rewrites.items()}


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of the rule registry."""
    routes = APIRouter(tags=["rules"], dependencies=needs)
    read = [Depends(services.guard.requires(Scope.READ))]
    admin = [Depends(services.guard.requires(Scope.ADMIN))]
    rule_registry = services.rule_registry
    limit = services.settings.max_update_chars
    # One edit, and one dry run, is read at a time: those that wait take no thread from other requests.
    edits, dry_runs = CapacityLimiter(_WAITING), CapacityLimiter(_WAITING)

    @routes.get("/rules", dependencies=read)
    async def get_rules() -> dict[str, Any]:
        """The versions in force, their files, why newer files are not, and all earlier versions."""
        return await run_in_threadpool(_rules_in_force, services)

    @routes.get("/rules/examples", dependencies=read)
    async def get_examples(
        shape: Annotated[
            str, Query(max_length=2000, description="IRI of a shape.", json_schema_extra=IRI_FORM)
        ],
    ) -> dict[str, Any]:
        """The example graphs beside the shape files: what a shape lets pass, and what it refuses."""
        folder = rule_registry.folder(Kind.SHAPES)
        found = await run_in_threadpool(lambda: [one.as_json() for one in examples_of(folder, shape)])
        return {"shape": shape, "examples": found}

    @routes.get("/rules/{kind}/{version}/{file}", dependencies=read, response_class=Response)
    async def get_earlier_file(kind: Kind, version: str, file: str) -> Response:
        """A file of an earlier version, as it was written; `GET /rules` lists versions and their files."""
        content = await run_in_threadpool(rule_registry.history.content, kind.value, version, file)
        return Response(content, media_type=_media_type(file))

    @routes.get("/shapes", dependencies=read, response_class=Response)
    async def get_shapes(
        request: Request,
        generated: Annotated[
            str | None,
            Query(
                description="`true`: those that the ontology makes; `false`: those of files.",
                json_schema_extra={"enum": [*_VALUES, None]},
            ),
        ] = None,
    ) -> Response:
        """The shapes in force; with `generated` those that the ontology makes, `=false` those of files."""
        format_ = choose(request.headers.get("accept"), GRAPH_FORMATS)
        wanted = None if generated is None else _flag("generated", generated)
        text = await run_in_threadpool(_shapes, rule_registry.current, format_.engine, wanted)
        return Response(text, headers={"Content-Type": format_.content_type, "Vary": "Accept"})

    @routes.post("/rules", dependencies=admin, openapi_extra=body_schema(RulesMessage))
    async def post_rules(
        request: Request, dry_run: _DryRun = "false", rewrite: _Rewrite = "false"
    ) -> dict[str, Any]:
        """Put an edit of several files in force as one; with `dry-run=true` only say what would follow."""
        message = await read_json(request, RulesMessage, limit)
        asked = Rewriting(_flag("rewrite", rewrite), message.given())
        if asked.given and not asked.wanted:
            raise InvalidBody([("rewrites", "is used with the parameter rewrite=true, which carries it out")])
        edit = await run_in_threadpool(_guarded, message.edit())
        if not edit.files:
            raise InvalidBody([("body", "give at least one file, as a member of 'ontology' or 'shapes'")])
        if _flag("dry-run", dry_run):
            return await while_wanted(request, partial(_dry_run_json, rule_registry, edit, asked), dry_runs)
        return await while_wanted(request, partial(_apply, rule_registry, edit, asked=asked), edits)

    @routes.post("/check", dependencies=admin, openapi_extra=body_schema(EditMessage))
    async def post_check(request: Request, reason: Reasoner = Reasoner.NONE) -> dict[str, Any]:
        """What the check says of the files in force with these edits; nothing is changed.

        Reading and checking them ends after 60 s, a reasoner, where one is asked for, after 120 s.
        """
        message = await read_json(request, EditMessage, limit)
        edit = await run_in_threadpool(_guarded, message.edit())
        return await while_wanted(request, partial(_checked, rule_registry, edit, reason), dry_runs)

    @routes.post("/impact", dependencies=admin, openapi_extra=body_schema(EditMessage))
    async def post_impact(request: Request) -> dict[str, Any]:
        """What these edits would change: what would fail, what would pass, what would follow."""
        message = await read_json(request, EditMessage, limit)
        edit = await run_in_threadpool(_guarded, message.edit())
        return await while_wanted(request, partial(_dry_run_json, rule_registry, edit), dry_runs)

    for kind, path in ((Kind.ONTOLOGY, "/ontologies/{file}"), (Kind.SHAPES, "/shapes/{file}")):
        _file_routes(routes, services, kind, path, edits, dry_runs)
    return routes


def _file_routes(
    routes: APIRouter,
    services: Services,
    kind: Kind,
    path: str,
    edits: CapacityLimiter,
    dry_runs: CapacityLimiter,
) -> None:
    read = [Depends(services.guard.requires(Scope.READ))]
    admin = [Depends(services.guard.requires(Scope.ADMIN))]
    rule_registry = services.rule_registry
    text = {"schema": {"type": "string"}}
    body = {"requestBody": {"required": True, "content": dict.fromkeys(("text/turtle", "*/*"), text)}}

    async def get_file(file: str) -> Response:
        """One file in force, as it was written."""
        content = await run_in_threadpool(rule_registry.content, kind, file)
        headers = {"ETag": f'"{rule_registry.digest(kind, file)}"'}
        return Response(content, media_type=_media_type(file), headers=headers)

    async def put_file(
        request: Request, file: str, dry_run: _DryRun = "false", rewrite: _Rewrite = "false"
    ) -> Response:
        """Put a file in force, once it is checked; with `dry-run=true` only say what would follow."""
        content = await read_body(request, services.settings.max_update_chars)
        asked = Rewriting(_flag("rewrite", rewrite))
        if _flag("dry-run", dry_run):
            return await _dry_run(request, rule_registry, kind, file, content, asked, dry_runs)
        return await _edit(request, rule_registry, kind, file, content, asked, edits)

    async def delete_file(
        request: Request, file: str, dry_run: _DryRun = "false", rewrite: _Rewrite = "false"
    ) -> Response:
        """Take a file out; with `dry-run=true` only say what would follow."""
        asked = Rewriting(_flag("rewrite", rewrite))
        if _flag("dry-run", dry_run):
            return await _dry_run(request, rule_registry, kind, file, None, asked, dry_runs)
        return await _edit(request, rule_registry, kind, file, None, asked, edits)

    routes.add_api_route(path, get_file, methods=["GET"], dependencies=read, response_class=Response)
    routes.add_api_route(path, put_file, methods=["PUT"], dependencies=admin, openapi_extra=body)
    routes.add_api_route(path, delete_file, methods=["DELETE"], dependencies=admin)


async def _edit(
    request: Request,
    rule_registry: RuleRegistry,
    kind: Kind,
    name: str,
    content: bytes | None,
    asked: Rewriting,
    limiter: CapacityLimiter,
) -> Response:
    edit = await run_in_threadpool(_guarded, Edit.of(kind, name, content))
    tag = request.headers.get("if-match")
    digest = str(tag).strip().removeprefix("W/").strip('"').removesuffix(COMPRESSED)
    expected = {} if tag in (None, "*") else {(kind, name): digest}
    is_new = rule_registry.digest(kind, name) is None and name != CATALOG
    switched = await while_wanted(
        request, partial(_apply, rule_registry, edit, expected=expected, asked=asked), limiter
    )
    return JSONResponse(switched, 201 if is_new and content is not None else 200)


async def _dry_run(
    request: Request,
    rule_registry: RuleRegistry,
    kind: Kind,
    name: str,
    content: bytes | None,
    asked: Rewriting,
    limiter: CapacityLimiter,
) -> Response:
    edit = await run_in_threadpool(_guarded, Edit.of(kind, name, content))
    return JSONResponse(
        await while_wanted(request, partial(_dry_run_json, rule_registry, edit, asked), limiter)
    )


def _media_type(file: str) -> str:
    return _TYPES.get("." + file.rpartition(".")[2], "application/rdf+xml")


def _flag(name: str, value: str) -> bool:
    low = value.lower()
    if low not in ("true", "false", "1", "0", ""):
        raise MalformedBody(f"{name}={value} is neither true nor false.")
    return low in ("true", "1", "")


def _apply(rule_registry: RuleRegistry, edit: Edit, **how: Any) -> dict[str, Any]:
    """What came of an edit, without the rules themselves: an idle thread keeps its last result."""
    switched = rule_registry.apply(edit, **how)
    return {
        "switched": switched.changed,
        "rules": _versions(switched.rules),
        "before": _versions(switched.before),
        "rewritten": switched.rewritten,
        "check": switched.report.as_json(),
        "impact": None if switched.impact is None else impact_json(switched.impact),
    }


def _dry_run_json(
    rule_registry: RuleRegistry, edit: Edit, asked: Rewriting = LEAVE, *, wanted: Callable[[], bool]
) -> dict[str, Any]:
    """The same of an edit that is not carried out."""
    candidate, impact = rule_registry.dry_run(edit, asked, wanted)
    return {
        "switched": False,
        "rules": _versions(candidate.rules),
        "before": _versions(rule_registry.current),
        "rewritten": 0,
        "check": candidate.report.as_json(),
        "impact": None if impact is None else impact_json(impact),
    }


def _iri(place: str, text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise InvalidBody([(f"rewrites.{place}", f"'{text}' is not an absolute IRI")]) from error


def _versions(rules: Ruleset) -> dict[str, Any]:
    return {
        "ontology": rules.schema.version,
        "version_iris": [iri.value for iri in rules.schema.version_iris],
        "shapes": rules.gate.version,
    }


def _rules_in_force(services: Services) -> dict[str, Any]:
    rule_registry = services.rule_registry
    report = rule_registry.report
    return {
        "rules": _versions(rule_registry.current),
        "since": rule_registry.since.isoformat(),
        "problem": rule_registry.problem or services.writer.rules_problem or None,
        "inference": services.writer.inferring,
        "background": services.background.under_way,
        "files": {
            kind.value: [
                {"name": name, "sha256": digest, "direct": path.parent == rule_registry.folder(kind)}
                for name, (path, digest) in rule_registry.files(kind).items()
            ]
            for kind in Kind
        },
        "check": None if report is None else report.as_json(),
        "history": [
            {
                "kind": one.kind,
                "version": one.version,
                "version_iris": one.version_iris,
                "files": one.files,
                "first_in_force": datetime.fromtimestamp(one.seconds, UTC).isoformat(),
            }
            for one in rule_registry.history.versions()
        ],
    }


def _shapes(rules: Ruleset, engine: object, generated: bool | None) -> str:
    assert isinstance(engine, RdfFormat)
    triples = rules.generated() if generated else rules.by_hand()
    if generated is None:
        triples += rules.files.generated
    return turtle(triples, rules, engine)


def _guarded(edit: Edit) -> Edit:
    check_shallow(edit.ontology, edit.shapes)
    return edit


def _checked(
    rule_registry: RuleRegistry, edit: Edit, reasoner: Reasoner, *, wanted: Callable[[], bool]
) -> dict[str, Any]:
    examined = rule_registry.check(edit, wanted)
    report = examined.report
    usable = not any(one.rule.name == "unusable" for one in report.findings)
    if reasoner is not Reasoner.NONE and usable and examined.schema is not None:
        report = reasoned(examined.schema, report, reasoner, lambda: not wanted())
    return report.as_json()
