"""The ways to read triples out of a window of text, behind one Protocol; `open_reader` chooses.

The names are loaded on first use: what reads prompts only need not load geometry.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extractors.readers.opening import open_reader
    from extractors.readers.reading import Reader, Reading, Turn
    from extractors.readers.single_turn import SingleTurn

__all__ = ["Reader", "Reading", "SingleTurn", "Turn", "open_reader"]

_HOMES = {
    "Reader": "extractors.readers.reading",
    "Reading": "extractors.readers.reading",
    "SingleTurn": "extractors.readers.single_turn",
    "Turn": "extractors.readers.reading",
    "open_reader": "extractors.readers.opening",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
