r"""Whether a text can be worked on at all, and the form in which the model is shown it.

Nothing here moves a character: evidence points into the text exactly as it was posted. Letters count with the
marks that belong to them: Thai and Indian vowels are marks, at which `\w` of Python's patterns ends.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Collection, Iterable
from functools import cache
from typing import Final, Protocol

from extractors.errors import ExtractionError


def _ranges(codes: Iterable[int]) -> str:
    """A list of code points, in their order, as the inside of a character class."""
    found: list[list[int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" if last > first else chr(first) for first, last in found)


_LAST: Final = min(sys.maxunicode, 0x1FFFF)
MARKS: Final = _ranges(code for code in range(0x300, _LAST) if unicodedata.category(chr(code))[0] == "M")
"""Combining marks of all scripts, for the inside of a character class."""
LETTER: Final = rf"[\w{MARKS}]"
"""A letter, a digit, an underscore, or a mark on one of these."""
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_ANY = re.compile(r"[^\W\d_]")


def is_foreign(name: str) -> bool:
    """Whether a name has letters, and none of them is Latin."""
    return _ANY.search(name) is not None and _LATIN.search(name) is None


MAXIMUM_CHARACTERS = 200_000
_JUDGED_FROM_LETTERS = 40
_JUDGED_CHARACTERS = 5_000
_CERTAIN = 0.38  # the classifier's certainty for lists of foreign names stays below this
_CERTAIN_DESPITE_FUNCTION_WORDS = 0.5
_FUNCTION_WORD_SHARE = 0.12
_LAST_LATIN = "\u0250"

# Words that carry grammar, not content: a text full of foreign names is still in the language whose function
# words hold it together. Words that are frequent in other languages too ("for", "at", "on") are left out.
_FUNCTION_WORDS = {
    "en": (
        "the of and is was were are been by with from that this which who it its to has had not they their "
        "she his or where when between after before during"
    ),
}
_WORD = re.compile(rf"[^\W\d_][^\W\d_]*(?:[{MARKS}]+[^\W\d_]*)*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2028\u2029\ufeff\ufffe\uffff]")


class TextError(ExtractionError):
    """The text itself keeps it from being worked on."""


class TextTooLong(TextError):
    """The text has more characters than the limit."""


class UnsupportedLanguage(TextError):
    """The text is written in another language than those configured."""


class _Identifier(Protocol):
    def classify(self, instance: str) -> tuple[str, float]: ...


@cache
def _identifier() -> _Identifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # a second to load: only when needed

    identifier: _Identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return identifier


def check_text(
    text: str, *, maximum_characters: int = MAXIMUM_CHARACTERS, languages: Collection[str] = ("en",)
) -> None:
    """Raise a `TextError` that says what to do when the text cannot be worked on.

    Refused are: nothing but white space or control characters, more than `maximum_characters` code points,
    lone surrogates (they cannot be written as UTF-8), and a language that is not among `languages` (ISO
    639-1 codes; empty allows any). Methods U2.
    """
    if len(text) > maximum_characters:
        raise TextTooLong(
            f"The text has {len(text):,} characters and the limit is {maximum_characters:,}: "
            "send it in parts, for instance one per chapter, or raise the limit in the settings."
        )
    if found := _SURROGATE.search(text):
        raise TextError(
            f"Character {found.start()} of the text is half a surrogate pair (U+{ord(found.group()):04X}), "
            "not valid Unicode: repair the encoding where the text comes from and send it again."
        )
    if not readable(text).strip():
        raise TextError("The text is empty: send at least one sentence.")
    if languages and (found_language := detect_language(text, expected=languages)) not in {None, *languages}:
        wanted = ", ".join(languages)
        raise UnsupportedLanguage(
            f"The text is in {found_language!r}, and extraction is set up for {wanted!r}: translate it, or "
            'add the language to the setting "languages" (an empty setting allows any).'
        )


def detect_language(text: str, *, expected: Collection[str] = ()) -> str | None:
    """Return the ISO 639-1 code of the text's language, or None for a text that is too short.

    A short English text full of foreign names looks foreign to a classifier of letter sequences, so an
    expected language whose function words hold the text together is believed first.
    """
    sample = text[:_JUDGED_CHARACTERS]
    words = [word.casefold() for word in _WORD.findall(sample)]
    if sum(map(len, words)) < _JUDGED_FROM_LETTERS:
        return None
    shares = {language: _function_word_share(words, language) for language in expected}
    for language, share in shares.items():
        if share >= _FUNCTION_WORD_SHARE:
            return language
    needed = _CERTAIN_DESPITE_FUNCTION_WORDS if any(shares.values()) else _CERTAIN
    language, certainty = _identifier().classify(sample)
    return language if certainty >= needed or language in expected else None


def is_held_together(sentence: str, language: str) -> bool:
    """Whether the function words of a language hold a sentence together, whatever its text is in."""
    words = [word.casefold() for word in _WORD.findall(sentence)]
    return bool(words) and _function_word_share(words, language) >= _FUNCTION_WORD_SHARE


def _function_word_share(words: list[str], language: str) -> float:
    """The share of a language's function words; words in another script do not count where they are fewer."""
    known = set(_FUNCTION_WORDS.get(language, "").split())
    own = [word for word in words if word[0] < _LAST_LATIN]
    counted = own if len(own) * 2 >= len(words) else words
    return sum(word in known for word in counted) / len(counted)


def readable(text: str) -> str:
    """Return the text with control and invisible characters as spaces, at the same length."""
    return _CONTROL.sub(" ", text)
