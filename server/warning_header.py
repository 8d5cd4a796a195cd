"""The Warning header (RFC 7234, 5.5): what a client should hear of although its request succeeded."""

from collections.abc import Iterable

_MOST_CHARACTERS = 1000


def warning_of(told: Iterable[str]) -> str | None:
    """The header's value for these sentences; None when there are none."""
    text = " ".join(told)
    if not text:
        return None
    plain = "".join(c if " " <= c <= "~" and c not in '"\\' else "'" for c in text)
    return f'199 urbankg "{plain[:_MOST_CHARACTERS]}"'
