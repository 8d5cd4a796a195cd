"""Whose fault an error is, the document's, the model's or nobody's, and what becomes of the document."""

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
from server.errors import ClusterUnavailable, ServerError, StateUnreadable
from sparql.model.errors import JudgingTimeout, SparqlError, TooMuchDepends


class Fate(Enum):
    """What becomes of a document after an error.

    `WAIT`: it waits, with all others, until what is missing is there again. `RETRY`: it is tried again, as
    often as the settings say. `REJECT`, `FAIL`: it is given up, until somebody asks for a retry.
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
    """What becomes of the document; what nobody expected is tried again."""
    return next((fate for kind, fate in _FATES if isinstance(error, kind)), Fate.RETRY)


def is_expected(error: BaseException) -> bool:
    """Whether the error's own words are for the user; else they are for the log."""
    return isinstance(error, ExtractionError | ServerError | SparqlError)


def told(error: BaseException) -> str:
    """What to say of an error beside a document."""
    if is_expected(error):
        return str(error)
    return f"The server failed at this document ({type(error).__name__}); its log says where."
