"""Asking in plain words: link the names, plan under the linked choices, compile, run, answer."""

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
