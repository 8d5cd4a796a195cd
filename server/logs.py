"""Logs as JSON lines on standard error, each with the request it belongs to.

A log never holds what a client sent: of a request it tells the method, the route's template (not the
path, which can hold names), the status and the time. Of an unexpected error it tells the class and the
places in the code, not its message, which can quote a query.
"""

import json
import logging
import re
import sys
import traceback
import uuid
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import TextIO

_REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Libraries that write addresses, with what is in them, into their messages.
_TALKATIVE = ("httpx", "httpcore", "openai", "asyncio")
_NEVER_SHOWN = {"color_message"}
_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, request, what was handed over as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without a line break in it."""
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        request = _REQUEST.get()
        if request is not None:
            told["request"] = request
        extra = vars(record).items()
        told |= {name: value for name, value in extra if name not in _STANDARD | _NEVER_SHOWN}
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
            told["places"] = _places(record.exc_info[2])
        return json.dumps(told, ensure_ascii=False, default=str)


def set_up_logs(level: str, stream: TextIO | None = None) -> None:
    """Make the root logger write JSON lines from this level on (debug, info, warning, error)."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def begin_request(given: str | None) -> str:
    """The identifier of a request, from now on in every line of its task: the client's, if it is plain."""
    identifier = given if given is not None and _SAFE_ID.fullmatch(given) else uuid.uuid4().hex
    _REQUEST.set(identifier)
    return identifier


def _places(trace: TracebackType | None) -> list[str]:
    """Where an error came from, outermost first: file, line and function."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
