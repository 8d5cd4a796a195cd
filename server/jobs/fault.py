"""Decides what happens to a document after an error."""

from __future__ import annotations

from enum import Enum

from extractors.errors import (
    ExtractionError,
    ModelReplyError,
    ModelRequestRefused,
    ModelTimeout,
    ModelUnavailable,
)
from extractors.text.cleaning import TextError
from server.errors import ServerError, StateUnreadable
from server.jobs.job_errors import ClusterUnavailable
from sparql.model.errors import JudgingTimeout, SparqlError, TooMuchDepends


class Fate(Enum):
    """What happens to a document after an error.

    `WAIT`: all documents wait until the missing service is back. `RETRY`: it is tried again, as often as the
    settings say. `REJECT`, `FAIL`: it is not tried again until a client asks for a retry.
    """

    WAIT = "wait"
    RETRY = "retry"
    REJECT = "reject"
    FAIL = "fail"


_FATES: tuple[tuple[type[BaseException], Fate], ...] = (
    (ModelUnavailable, Fate.WAIT),
    (ClusterUnavailable, Fate.WAIT),
    (StateUnreadable, Fate.WAIT),
    (TooMuchDepends, Fate.FAIL),
    (JudgingTimeout, Fate.FAIL),
    (SparqlError, Fate.WAIT),
    (ModelTimeout, Fate.RETRY),
    (ModelReplyError, Fate.RETRY),
    (ModelRequestRefused, Fate.FAIL),
    (TextError, Fate.REJECT),
    (ExtractionError, Fate.FAIL),
)


def fate_after(error: BaseException) -> Fate:
    """What happens to the document. After an unexpected error it is tried again."""
    return next((fate for kind, fate in _FATES if isinstance(error, kind)), Fate.RETRY)


def is_expected(error: BaseException) -> bool:
    """Whether the error's message is for the user; else it is for the log."""
    return isinstance(error, ExtractionError | ServerError | SparqlError)


def message_of(error: BaseException) -> str:
    """The message that is stored with the document."""
    if is_expected(error):
        return str(error)
    return f"The server failed at this document ({type(error).__name__}); its log says where."
