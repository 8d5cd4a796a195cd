"""A grammar that lets a model write only what the text says: names and values are runs of its words.

Written in GBNF, the grammar language of llama.cpp. A small model otherwise misspells the names that it copies
and makes up years; held to the text it can do neither.
"""

from __future__ import annotations

import re
from typing import Final

from extractors.text.letters import LETTER

__all__ = ["answer_grammar"]

_UNIT: Final = re.compile(rf"{LETTER}+|[^\w\s]")
_STARTS: Final = re.compile(r"""[\w"'“‘(\[#$€£¥@&+-]""")
_FREE: Final = "[^|\\n]+"
_BAR: Final = "|"


def answer_grammar(text: str, *, free_value: bool = False) -> str:
    """The grammar of an answer about `text`: lines of `subject | object`, after a space.

    Both are runs of the text's words, broken only where words end, and without the bar that divides them;
    with `free_value` the object is not. For a text without words all words are free.
    """
    line = " ".join(text.split())
    units = list(_UNIT.finditer(line))
    starts = [number for number, unit in enumerate(units) if _STARTS.match(unit.group())]
    if not starts:
        return f'root ::= " " pair ("\\n" pair)*\npair ::= {_FREE} " | " {_FREE}\n'
    rules = [
        'root ::= " " pair ("\\n" pair)*',
        f'pair ::= run " | " {_FREE if free_value else "run"}',
        "run ::= " + " | ".join(f"u{number}" for number in starts),
    ]
    for number, unit in enumerate(units):
        if unit.group() == _BAR:
            continue
        rest = ""
        if number + 1 < len(units) and units[number + 1].group() != _BAR:
            gap = line[unit.end() : units[number + 1].start()]
            rest = f" ({_literal(gap)} u{number + 1})?" if gap else f" u{number + 1}?"
        rules.append(f"u{number} ::= {_literal(unit.group())}{rest}")
    return "\n".join(rules) + "\n"


def _literal(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'
