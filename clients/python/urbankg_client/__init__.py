"""A client of UrbanKG: `Client` and `AsyncClient`, the models of their answers, and their errors."""

from urbankg_client.calls import ExtractionStep, JobRecord, NewStatement
from urbankg_client.client import AsyncClient, Client
from urbankg_client.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    NotFound,
    RateLimited,
    Refused,
    TooLarge,
    Unauthorized,
    Unavailable,
    Unreachable,
    UrbanKGError,
)
from urbankg_client.models import (
    AskAnswer,
    AskTrace,
    DecisionAnswer,
    ExtractionAnswer,
    Job,
    JobDocument,
    Term,
)
from urbankg_client.rows import Rows
from urbankg_client.terms import iri, literal

__all__ = [
    "ApiError",
    "AskAnswer",
    "AskTrace",
    "AsyncClient",
    "BadRequest",
    "Client",
    "Conflict",
    "DecisionAnswer",
    "ExtractionAnswer",
    "ExtractionStep",
    "Forbidden",
    "Gone",
    "Job",
    "JobDocument",
    "JobRecord",
    "NewStatement",
    "NotFound",
    "RateLimited",
    "Refused",
    "Rows",
    "Term",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
    "UrbanKGError",
    "iri",
    "literal",
]
