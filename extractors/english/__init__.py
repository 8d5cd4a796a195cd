"""What is of the English language alone: how its sentences mark what they do not state as fact.

Imports nothing of `extractors` but spans, sentences, reservations and negation (`hedges`).
"""

from __future__ import annotations

from extractors.english.judging import English

__all__ = ["English"]
