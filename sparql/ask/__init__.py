"""Asking in plain words: link the names, plan under the linked choices, compile, run, answer.

The names are loaded on first use: a server starts before it is asked anything.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparql.ask.compiler import Compiler, Query
    from sparql.ask.errors import AskError, PlanError
    from sparql.ask.gaps import Gap, GapKind
    from sparql.ask.plan import Choice, Choices, Op, Plan, Step, plan_schema, read_plan
    from sparql.ask.service import LONGEST_QUESTION, Asker, AskResult

__all__ = [
    "LONGEST_QUESTION",
    "AskError",
    "AskResult",
    "Asker",
    "Choice",
    "Choices",
    "Compiler",
    "Gap",
    "GapKind",
    "Op",
    "Plan",
    "PlanError",
    "Query",
    "Step",
    "plan_schema",
    "read_plan",
]

_NAMES = {
    "sparql.ask.compiler": ("Compiler", "Query"),
    "sparql.ask.errors": ("AskError", "PlanError"),
    "sparql.ask.gaps": ("Gap", "GapKind"),
    "sparql.ask.plan": ("Choice", "Choices", "Op", "Plan", "Step", "plan_schema", "read_plan"),
    "sparql.ask.service": ("LONGEST_QUESTION", "Asker", "AskResult"),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
