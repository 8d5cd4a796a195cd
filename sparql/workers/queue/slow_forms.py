"""Which queries are known to take long, by their form: the text without the names and values in it.

Applications send the same few forms again and again. One that took_too_long its time on the express worker would
do so the next time, too. Each client has forms of its own: what another one asks for in the same form may be
much shorter.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable

_VALUE = re.compile(r"""<[^<>\s]*>|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[0-9]+""", re.DOTALL)
_REMEMBERED = 1000
_LONGEST_TEXT = 16_384


class SlowForms:
    """The forms that took long in the last ``seconds``; ``clock`` gives seconds."""

    def __init__(self, clock: Callable[[], float], seconds: float = 60.0) -> None:
        self._clock = clock
        self._seconds = seconds
        self._until: OrderedDict[int, float] = OrderedDict()

    def note(self, client: str, text: str) -> None:
        """A query of this form took long."""
        form = _form_of(client, text)
        self._until[form] = self._clock() + self._seconds
        self._until.move_to_end(form)
        if len(self._until) > _REMEMBERED:
            self._until.popitem(last=False)

    def known(self, client: str, text: str) -> bool:
        """Whether a query of this form took long."""
        # Without any, which is the rule, nothing needs to be read.
        return bool(self._until) and self._until.get(_form_of(client, text), 0.0) > self._clock()


def _form_of(client: str, text: str) -> int:
    return hash((client, _VALUE.sub("", text[:_LONGEST_TEXT])))
