"""Remembers slow queries by their form: the text without names and values.

Applications send the same few forms again and again. One that took too long on the express worker would do so
the next time, too. Forms are kept per client: with another client's values the same form may be much faster.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable

_VALUE = re.compile(r"""<[^<>\s]*>|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[0-9]+""", re.DOTALL)
_REMEMBERED = 1000
_LONGEST_TEXT = 16_384


class SlowForms:
    """The forms that were slow in the last ``seconds``; ``clock`` gives seconds."""

    def __init__(self, clock: Callable[[], float], seconds: float = 60.0) -> None:
        self._clock = clock
        self._seconds = seconds
        self._until: OrderedDict[int, float] = OrderedDict()

    def note(self, client: str, text: str) -> None:
        """Record that a query of this form was slow."""
        form = _form_of(client, text)
        self._until[form] = self._clock() + self._seconds
        self._until.move_to_end(form)
        if len(self._until) > _REMEMBERED:
            self._until.popitem(last=False)

    def known(self, client: str, text: str) -> bool:
        """Whether a query of this form was slow."""
        # Usually there are none, and nothing needs to be read.
        return bool(self._until) and self._until.get(_form_of(client, text), 0.0) > self._clock()


def _form_of(client: str, text: str) -> int:
    return hash((client, _VALUE.sub("", text[:_LONGEST_TEXT])))
