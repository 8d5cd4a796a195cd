"""All that is specific to English: negation and modality, coreference, numbers, dates, units, values.

May import `geo`, `ontology`, `extractors.text`, `extractors.reservations` and `extractors.grounding`.
"""

from __future__ import annotations

from extractors.english.clauses.judging import English

__all__ = ["English"]
