"""The errors of every package with their HTTP status, and with the exit code of the command line."""

from collections.abc import Mapping

from starlette.requests import ClientDisconnect

from extractors import errors as extraction
from extractors.text.cleaning import TextError, TextTooLong, UnsupportedLanguage
from geo.errors import GeoError
from ontology.errors import OntologyError
from server import errors as server
from server import gaps
from server.data.rdf_files import LoadError, MappingError
from server.http.bodies.streaming import ClientLeft
from server.http.reporting.problems import ProblemMap, add_sparql
from server.jobs import job
from server.rules import edits as edit_errors
from shapes.errors import (
    DecisionSettled,
    DecisionUnknown,
    DocumentRemoved,
    DocumentUnknown,
    EntityUnknown,
    MergeRefused,
    MergeSettled,
    MergeUnknown,
    ProposalDecided,
    ProposalUnknown,
    ReasonNeeded,
    ReviewItemDecided,
    ReviewItemUnknown,
    ShapesError,
    TermNotDeclared,
)
from sparql.ask.errors import AskError, PlanError, QuestionsRefused, QuestionTooInvolved
from sparql.model.errors import BackupError, SparqlError
from sparql.writing.bulk import MalformedLiteral

# The client is gone; the status is for the log.
_CLIENT_LEFT = 499

USER_ERRORS: tuple[type[Exception], ...] = (
    SparqlError,
    extraction.ExtractionError,
    OntologyError,
    ShapesError,
    GeoError,
    MappingError,
    server.ServerError,
)
"""What the command line reports in one line instead of a traceback; its exit code is then 2."""


def all_problems() -> ProblemMap:
    """The whole map."""
    problems = ProblemMap()
    add_sparql(problems)
    add = problems.add
    add(AskError, 422, "Question not usable")
    add(QuestionTooInvolved, 422, "Question too involved")
    add(QuestionsRefused, 503, "Question not taken", headers=lambda error: {"Retry-After": "5"})
    add(PlanError, 422, "Plan not usable")
    add(extraction.ExtractionError, 500, "Extraction failed")
    add(TextError, 422, "Text not usable")
    add(TextTooLong, 413, "Text too long")
    add(UnsupportedLanguage, 422, "Language not configured")
    add(extraction.MethodUnsupported, 422, "Method not possible with this model")
    add(extraction.OpenModeUnsupported, 422, "Open mode not possible with this model")
    add(extraction.ModelError, 502, "The language model failed")
    add(
        extraction.ModelUnavailable,
        503,
        "The language model cannot be reached",
        headers=lambda error: {"Retry-After": "10"},
    )
    add(extraction.ModelTimeout, 504, "The language model was too slow")
    add(extraction.ModelReplyError, 502, "The language model's reply cannot be used", members=_reply)
    add(extraction.ModelRequestRefused, 502, "The language model refused the request")
    add(OntologyError, 500, "The ontology cannot be used")
    add(ShapesError, 500, "The shapes cannot be used")
    add(ReviewItemUnknown, 404, "No such review item")
    add(ReviewItemDecided, 409, "Already decided", members=lambda error: {"state": error.state})
    add(DecisionUnknown, 404, "No such decision")
    add(DecisionSettled, 409, "Decided again since then")
    add(ReasonNeeded, 422, "Reason needed")
    add(ProposalUnknown, 404, "No such proposal")
    add(ProposalDecided, 409, "Already decided", members=lambda error: {"standing": error.status})
    add(TermNotDeclared, 422, "Term not declared")
    add(DocumentUnknown, 404, "No such document")
    add(EntityUnknown, 404, "No such entity")
    add(MergeRefused, 409, "Entities are not the same")
    add(MergeUnknown, 404, "No such merge")
    add(MergeSettled, 409, "Merge cannot be split")
    add(
        DocumentRemoved,
        410,
        "Document was removed",
        members=lambda error: {"removed_at": error.removed_at, "by": error.by, "reason": error.reason},
    )
    add(GeoError, 422, "Geometry not usable")
    add(MappingError, 422, "Mapping not usable")
    add(LoadError, 422, "File not loaded")
    add(BackupError, 409, "Backup not possible")
    add(MalformedLiteral, 422, "Literal outside its datatype")
    add(server.Misdirected, 421, "Another host's request")
    add(server.ForeignOrigin, 403, "Foreign origin")
    add(server.KeyNeeded, 401, "Key needed", headers=_challenge)
    add(server.ScopeMissing, 403, "Scope missing", headers=_challenge)
    add(server.KeyInAddress, 400, "Key in the address")
    add(server.StateUnreadable, 503, "State unavailable")
    add(server.StateFull, 507, "Disk full")
    add(server.TooLong, 413, "SPARQL text too long", members=lambda error: {"limit_chars": error.limit})
    add(server.NestedTooDeep, 400, "Nested too deep", members=lambda error: {"limit": error.limit})
    add(server.TextTooComplex, 400, "Too many operators", members=lambda error: {"limit": error.limit})
    add(server.BodyTooLarge, 413, "Body too large", members=lambda error: {"limit_bytes": error.limit})
    add(server.GeometryTooCostly, 422, "Geometry too costly")
    add(server.MalformedBody, 400, "Body not readable")
    add(server.InvalidBody, 422, "Body not valid", members=_places)
    add(
        server.SelectionChanged,
        409,
        "Number of items differs",
        members=lambda error: {"expected": error.expected, "found": error.found},
    )
    add(server.UnknownParameters, 422, "Unknown parameters", members=_places)
    add(server.UnknownValues, 422, "No such value", members=_places)
    add(server.ParameterUnusable, 400, "Parameter not usable", members=_places)
    add(server.UnsupportedBody, 415, "Content type not read here")
    add(
        server.UnsupportedCoding,
        415,
        "Content coding not read here",
        headers=lambda error: {"Accept-Encoding": "gzip, identity"},
    )
    add(server.LoadRefused, 422, "File refused by the shapes", members=lambda error: {"loads": error.loads})
    add(edit_errors.RulesUnusable, 503, "Rules not usable")
    add(edit_errors.FileNameUnusable, 400, "File name not usable")
    add(
        edit_errors.EditRefused,
        422,
        "Edit not usable",
        members=lambda error: {"check": error.report.as_json()},
    )
    add(edit_errors.DryRunExceeded, 422, "Dry run took too long")
    add(edit_errors.EditSuperseded, 409, "A later edit came")
    add(edit_errors.EditConflict, 412, "File changed meanwhile")
    add(edit_errors.FolderReadOnly, 409, "Shipped files are not edited")
    add(server.UnknownResource, 404, "Not found")
    add(server.DryRunUnknown, 404, "No such dry run")
    add(job.JobUnknown, 404, "No such job")
    add(job.JobConflict, 409, "Job is in another state", members=lambda error: {"state": error.state})
    add(job.JobEmpty, 400, "No documents")
    add(job.RecordUnreadable, 400, "Record not readable", members=lambda error: {"line": error.line})
    add(
        job.RecordTooLong,
        413,
        "Text too long",
        members=lambda error: {"line": error.line, "limit_chars": error.limit},
    )
    add(gaps.GapUnknown, 404, "No such gap")
    add(gaps.GapDecided, 409, "Already decided", members=lambda error: {"state": error.status})
    add(gaps.GapIncomplete, 422, "Nothing fills the gap")
    add(
        gaps.GapRefused,
        422,
        "Statement does not conform",
        members=lambda error: {"refused": list(error.refused)},
    )
    add(
        gaps.PassagesTooSlow,
        503,
        "Passages not indexed yet",
        headers=lambda error: {"Retry-After": "60"},
    )
    add(gaps.EncyclopediaUnreadable, 500, "Encyclopedia not readable")
    add(job.ClusterUnavailable, 503, "Cluster unavailable")
    add(server.IdempotencyKeyUnusable, 400, "Idempotency key not usable")
    add(server.IdempotencyKeyReused, 422, "Idempotency key reused")
    add(server.RequestUnderWay, 409, "First request under way", headers=lambda error: {"Retry-After": "1"})
    add(server.ReplyLost, 409, "Reply lost", members=lambda error: {"revision": error.revision})
    add(ClientDisconnect, _CLIENT_LEFT, "Client disconnected")
    add(ClientLeft, _CLIENT_LEFT, "Client disconnected")
    add(server.TooManyListeners, 503, "Too many listeners", headers=lambda error: {"Retry-After": "30"})
    return problems


def _reply(error: extraction.ModelReplyError) -> Mapping[str, str]:
    return {"reply": error.reply[:2000]}


def _challenge(error: server.KeyNeeded | server.ScopeMissing) -> Mapping[str, str]:
    """What to send instead (RFC 6750, 3)."""
    challenge = 'Bearer realm="urbankg"'
    if isinstance(error, server.ScopeMissing):
        challenge += f', error="insufficient_scope", scope="{error.scope}"'
    elif error.sent:
        challenge += ', error="invalid_token"'
    return {"WWW-Authenticate": challenge}


def _places(
    error: server.InvalidBody | server.UnknownParameters | server.UnknownValues | server.ParameterUnusable,
) -> Mapping[str, object]:
    return {"errors": [{"place": place, "message": message} for place, message in error.problems]}
