"""The ways to read triples out of a window of text, behind one Protocol; `open_reader` chooses."""

from extractors.readers.opening import open_reader
from extractors.readers.reading import Reader, Reading, Turn
from extractors.readers.single_turn import SingleTurn

__all__ = ["Reader", "Reading", "SingleTurn", "Turn", "open_reader"]
