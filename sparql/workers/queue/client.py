"""For whom the work of this task is done: what there is of workers is shared among clients."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

OURSELVES: Final = ""
"""The client of what the program does by itself."""
CLIENT: Final[ContextVar[str]] = ContextVar("client", default=OURSELVES)
"""A name that stands for the client, the same for all of its requests."""
