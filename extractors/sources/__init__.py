"""Records of areas, roads, points of interest, reviews and web pages from files (methods U1, U2)."""

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
