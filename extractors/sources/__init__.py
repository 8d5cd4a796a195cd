"""Records of areas, roads, points of interest, reviews and web pages from files (methods U1, U2).

The names are loaded on first use: a server's routes name the kinds of records before geometry is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extractors.sources.mapping import Mapping, SourceMapping, read_mapping
    from extractors.sources.reading import read_sources
    from extractors.sources.record import BrokenRecord, SourceKind, SourceRecord
    from extractors.sources.report import CleaningReport
    from extractors.sources.rules import Cleaner, CleanRecord, Rule, Rules

__all__ = [
    "BrokenRecord",
    "CleanRecord",
    "Cleaner",
    "CleaningReport",
    "Mapping",
    "Rule",
    "Rules",
    "SourceKind",
    "SourceMapping",
    "SourceRecord",
    "read_mapping",
    "read_sources",
]

_NAMES = {
    "mapping": ("Mapping", "SourceMapping", "read_mapping"),
    "reading": ("read_sources",),
    "record": ("BrokenRecord", "SourceKind", "SourceRecord"),
    "report": ("CleaningReport",),
    "rules": ("CleanRecord", "Cleaner", "Rule", "Rules"),
}
_HOMES = {name: f"extractors.sources.{home}" for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
