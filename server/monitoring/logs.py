"""Logs on standard error, each line with the request it belongs to: plain on a terminal, else as JSON.

A log never holds what a client sent. Of a request it has the method, the route's template (not the path,
which can hold names), the status and the time. Of an unexpected error it has the class and the places in the
code, not the message, which can quote a query.
"""

import asyncio
import itertools
import json
import logging
import re
import sys
import time
import traceback
import uuid
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Final, TextIO

_REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
# Monitors request these every few seconds: they are counted, and logged only at level debug.
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
_requests = logging.getLogger("urbankg.requests")
_RUN: Final = f"{uuid.uuid4().hex[:16]}-"
_GATHERED_S: Final = 0.25
_NUMBERS: Final = itertools.count(1)
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Libraries that write addresses, with their queries, into their messages.
_TALKATIVE = ("httpx", "httpcore", "asyncio")
_NEVER_SHOWN = {"color_message"}
_SHOWN: Final = frozenset({"time", "level", "logger", "message", "request"})
"""What a plain line has no name for, or leaves out."""
_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, request, and the `extra` values."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without a line break in it."""
        line: dict[str, object] = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        request = _REQUEST.get()
        if request is not None:
            line["request"] = request
        extra = vars(record).items()
        line |= {name: value for name, value in extra if name not in _STANDARD | _NEVER_SHOWN}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["places"] = _places(record.exc_info[2])
        return json.dumps(line, ensure_ascii=False, default=str)


class PlainFormatter(logging.Formatter):
    """The same values for people: the time of day, the level unless it is information, message, values."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; the places of an error are lines of their own."""
        line = json.loads(JsonFormatter().format(record))
        places = line.pop("places", [])
        level = "" if record.levelno == logging.INFO else f"{line['level'].upper()} "
        extra = " ".join(f"{name}={value}" for name, value in line.items() if name not in _SHOWN)
        begin = f"{datetime.fromtimestamp(record.created):%H:%M:%S} {level}{line['message']} {extra}".rstrip()
        return "\n    ".join([begin, *places])


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes records as lines of its form, and lines that are formatted already."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.plain = stream.isatty()
        self.setFormatter(PlainFormatter() if self.plain else JsonFormatter())

    def write_lines(self, lines: str) -> None:
        """Write complete lines; errors of the stream are ignored."""
        self.acquire()
        try:
            with suppress(OSError, ValueError):
                self.stream.write(lines)
                self.flush()
        finally:
            self.release()


def set_up_logs(level: str, stream: TextIO | None = None) -> None:
    """Make the root logger write from this level on (debug, info, warning, error)."""
    handler = LogHandler(stream or sys.stderr)
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def new_identifier() -> str:
    """An identifier for a request, practically unique among all runs of all servers."""
    return f"{_RUN}{next(_NUMBERS):x}"


def begin_request(given: str | None) -> str:
    """The identifier of a request, from now on in every line of its task: the client's, if it is safe."""
    identifier = given if given is not None and _SAFE_ID.fullmatch(given) else new_identifier()
    _REQUEST.set(identifier)
    return identifier


def log_answered(method: str, route: str, status: int, seconds: float, *, finished: bool = True) -> None:
    """One line for the request of this task, which is over."""
    extra: dict[str, object] = {"method": method, "route": route, "status": status, "ms": _ms(seconds)}
    if not finished:
        extra["unfinished"] = True
    _requests.log(logging.DEBUG if route in _QUIET else logging.INFO, "answered", extra=extra)


class AnswerLog:
    """Collects the lines of fast answers and writes them together a moment later, which takes less time.

    For the thread of the event loop. Call `write` before the loop ends.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[float, str, str, str, int, float]] = []

    def note(self, identifier: str, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered; the parameters are plain words that need no quoting in JSON."""
        if not self._waiting:
            asyncio.get_running_loop().call_later(_GATHERED_S, self.write)
        self._waiting.append((time.time(), identifier, method, route, status, seconds))

    def write(self) -> None:
        """Write the lines that wait, in the form that `JsonFormatter` gives to those of `log_answered`."""
        waiting, self._waiting = self._waiting, []
        if not waiting or not _requests.isEnabledFor(logging.INFO):
            return
        for handler in logging.getLogger().handlers:
            if isinstance(handler, LogHandler):
                line = _plain_line if handler.plain else _json_line
                handler.write_lines("".join(line(*entry) for entry in waiting))


def _json_line(created: float, identifier: str, method: str, route: str, status: int, seconds: float) -> str:
    return (
        f'{{"time": "{_time(created)}", "level": "info", "logger": "{_requests.name}", '
        f'"message": "answered", "request": "{identifier}", "method": "{method}", "route": "{route}", '
        f'"status": {status}, "ms": {_ms(seconds)}}}\n'
    )


def _plain_line(created: float, _: str, method: str, route: str, status: int, seconds: float) -> str:
    return (
        f"{datetime.fromtimestamp(created):%H:%M:%S} answered "
        f"method={method} route={route} status={status} ms={_ms(seconds)}\n"
    )


def _time(created: float) -> str:
    return datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds")


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _places(trace: TracebackType | None) -> list[str]:
    """Where an error came from, outermost first: file, line and function."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
