"""The Warning header (RFC 7234, 5.5): what a client should hear of although its request succeeded.

Its text is a quoted string of visible ASCII: what is beyond that arrives differently at different clients
(RFC 7230, 3.2.4), and nothing in the field states its encoding. So any other character is written as SPARQL
escapes it (`\\u00E9`, `\\U0001F600`), and quotes and backslashes are quoted pairs (RFC 7230, 3.2.6).
"""

from collections.abc import Iterable

_MOST_CHARACTERS = 1000


def warning_of(texts: Iterable[str]) -> str | None:
    """The header's value for these sentences, cut where it is too long; None when there are none."""
    text = " ".join(" ".join(texts).split())
    if not text:
        return None
    written: list[str] = []
    left = _MOST_CHARACTERS
    for character in text:
        shown = _shown(character)
        left -= len(shown)
        if left < 0:
            break
        written.append(shown)
    return f'199 urbankg "{"".join(written)}"'


def _shown(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if " " <= character <= "~":
        return character
    code = ord(character)
    return f"\\\\u{code:04X}" if code < 0x10000 else f"\\\\U{code:08X}"
