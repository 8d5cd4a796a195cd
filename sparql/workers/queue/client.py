"""The client that the current task works for: the workers are shared among clients."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

OURSELVES: Final = ""
"""The client of the program's own work."""
CLIENT: Final[ContextVar[str]] = ContextVar("client", default=OURSELVES)
"""An identifier of the client, the same for all of its requests."""
