"""The indefinite article before a noun, by its sound: "an organization", "a university"."""

from __future__ import annotations

from typing import Final

__all__ = ["with_article"]

_VOWELS: Final = "aeiou"
_CONSONANTS: Final = ("uni", "use", "usu", "uti", "euro", "one", "once")
"""Words that begin with the letter of a vowel and the sound of a consonant."""
_SILENT: Final = ("hour", "honor", "honour", "honest", "heir")


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an"."""
    word = noun.casefold()
    vowel = word[:1] in _VOWELS and not word.startswith(_CONSONANTS)
    return f"{'an' if vowel or word.startswith(_SILENT) else 'a'} {noun}"
