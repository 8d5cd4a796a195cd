"""What the server refuses about gaps of questions.

ServerError
├── GapUnknown          no gap has this identifier
├── GapDecided          a gap that was decided already
├── GapIncomplete       a gap that nothing fills yet
├── GapRefused          what fills a gap does not conform to the shapes
├── PassagesTooSlow     passages are not found in time
└── EncyclopediaUnreadable  a file of the encyclopedia cannot be read
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from server.errors import ServerError


class GapUnknown(ServerError):
    """No gap has this identifier."""

    def __init__(self, identifier: str) -> None:
        super().__init__(f"There is no gap '{identifier[:200]}'. `GET /gaps` lists those there are.")


class GapDecided(ServerError):
    """A gap whose status does not allow the decision."""

    def __init__(self, identifier: str, status: str, what: str) -> None:
        super().__init__(
            f"Gap {identifier} is {status}, so it cannot be {what}. A rejected gap can be reopened; what was "
            "accepted is deleted with its document, or by an update."
        )
        self.status = status


class GapIncomplete(ServerError):
    """Nothing fills the gap yet; the message says what to do."""


class GapRefused(ServerError):
    """What would fill a gap does not conform to the shapes; nothing was changed."""

    def __init__(self, refused: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(
            "Nothing was changed: the statements break a shape. Correct them and send them as 'statements'."
        )
        self.refused = refused


class PassagesTooSlow(ServerError):
    """Passages were not found in time, most likely since a new encyclopedia is being indexed."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(
            f"The passages were not found within {limit_s:g} s. They are indexed in the background; try "
            "again in a minute."
        )


class EncyclopediaUnreadable(ServerError):
    """A file of the setting `encyclopedia` cannot be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"The encyclopedia's {path.name} cannot be read: {reason}. The operator can fix it.")
