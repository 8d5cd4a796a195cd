"""Regular expressions in shapes: one that backtracks endlessly ends with the time limit of the judgment.

The package `regex` compiles what Python's `re` does, lets other threads run while it matches, and takes a
timeout. Both engines use it, for `sh:pattern` (SHACL, 4.4.3) and for REGEX and REPLACE in SHACL-SPARQL
constraints (SPARQL 1.1, 17.4.3.14 and 17.4.3.15), whose own implementations use `re`.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MethodType
from typing import Any, Final, TypeVar

import rdflib
import regex
from pyshacl.constraints import CONSTRAINT_PARAMETERS_MAP
from pyshacl.constraints.core.string_based_constraints import PatternConstraintComponent
from rdflib.namespace import SH
from rdflib.plugins.sparql.operators import string
from rdflib.plugins.sparql.parserutils import Expr
from rdflib.plugins.sparql.sparql import SPARQLError

from shapes.time_limit import end_judgment, remaining_s

Result = TypeVar("Result")

_FLAGS: Final[Mapping[str, int]] = {"i": regex.IGNORECASE, "s": regex.DOTALL, "m": regex.MULTILINE}
_SHORT: Final = 200
"""Characters of a text in which a simple expression tries some million possibilities at most."""
_ESCAPE = re.compile(r"\\[^0-9gk]", re.DOTALL)
_CHARACTER_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")


class RegularExpression:
    """A compiled regular expression. Raises `regex.error` when it is not well-formed."""

    def __init__(self, pattern: str, flags: str = "") -> None:
        self._compiled = _compiled(pattern, flags)
        # Most patterns of shapes are simple, and a timeout takes ten times as long as they do.
        self._short = _SHORT if is_simple(pattern) else -1

    def search(self, text: str) -> Any:
        """The first match in the text, or None. Raises `JudgingTimeout`."""
        if len(text) <= self._short:
            return self._compiled.search(text)
        return _limited(self._compiled.search, text)

    def match(self, text: str) -> Any:
        """The match at the beginning of the text, or None. Raises `JudgingTimeout`."""
        if len(text) <= self._short:
            return self._compiled.match(text)
        return _limited(self._compiled.match, text)

    def replace(self, text: str, replacement: str) -> str:
        """The text with each match replaced; the groups of a match are `\\1` to `\\9`.

        Raises `JudgingTimeout`, and `regex.error` for a group that there is not.
        """
        replaced: str = _limited(self._compiled.sub, replacement, text)
        return replaced


def is_simple(pattern: str) -> bool:
    """Whether an expression surely tries few possibilities: two repetitions of single characters at most."""
    bare = _CHARACTER_CLASS.sub("x", _ESCAPE.sub("x", pattern))
    repetitions = bare.count("*") + bare.count("+") + bare.count("{")
    return (
        repetitions <= 2
        and bare.count("?") + bare.count("|") <= 4
        and not _REPEATED_GROUP.search(bare)
        and set(bare).isdisjoint("\\[]")
    )


def _limited(call: Callable[..., Result], *arguments: str) -> Result:
    try:
        return call(*arguments, timeout=remaining_s())
    except TimeoutError:
        end_judgment()


@lru_cache(maxsize=1024)
def _compiled(pattern: str, flags: str) -> Any:
    given = regex.V0
    for letter in flags:
        given |= _FLAGS.get(letter, 0)
    return regex.compile(pattern, given)


class _PatternComponent(PatternConstraintComponent):
    """pySHACL's `sh:pattern`, which only searches with what it compiled."""

    def __init__(self, shape: Any) -> None:
        super().__init__(shape)
        flags = "" if self.flags is None else str(self.flags).lower().replace("s", "")
        for pattern, compiled in self.compiled_cache.items():
            self.compiled_cache[pattern] = RegularExpression(compiled.pattern, flags)  # type: ignore[assignment]


CONSTRAINT_PARAMETERS_MAP[SH.pattern] = _PatternComponent


def limit_expression(node: Any) -> None:
    """Have REGEX and REPLACE, if this part of a prepared query is one, end with the judgment."""
    if isinstance(node, Expr) and node.name in _BUILTINS:
        builtin = _BUILTINS[node.name]
        node._evalfn = MethodType(lambda expression, context: builtin(expression), node)  # noqa: SLF001


def _regex(expression: Expr) -> rdflib.Literal:
    found = _expression(expression).search(str(string(expression.text)))
    return rdflib.Literal(found is not None)


def _replace(expression: Expr) -> rdflib.Literal:
    text = string(expression.arg)
    # `$1` in SPARQL is `\1` here.
    replacement = regex.sub(r"\$([0-9]*)", r"\\\1", str(string(expression.replacement)))
    try:
        replaced = _expression(expression).replace(str(text), replacement)
    except regex.error as error:
        raise SPARQLError(str(error)) from error
    return rdflib.Literal(replaced, datatype=text.datatype, lang=text.language)


def _expression(expression: Expr) -> RegularExpression:
    try:
        return RegularExpression(str(string(expression.pattern)), str(expression.flags or ""))
    except regex.error as error:
        raise SPARQLError(str(error)) from error


_BUILTINS: Final[Mapping[str, Callable[[Expr], rdflib.Literal]]] = {
    "Builtin_REGEX": _regex,
    "Builtin_REPLACE": _replace,
}
