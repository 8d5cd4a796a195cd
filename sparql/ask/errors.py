"""The errors of asking.

SparqlError
├── AskError      the question is empty or too long
│   └── QuestionTooInvolved  the question takes longer than questions may
├── QuestionsRefused  too many are asked at the same time, or the server ends
└── PlanError     a plan is not in the plan language, or its steps do not fit each other
"""

from __future__ import annotations

from sparql.model.errors import SparqlError


class AskError(SparqlError):
    """The question cannot be read; the message says how to write it."""


class QuestionTooInvolved(AskError):
    """The question takes more time to read, plan or query than a question may; `why` says what to do."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The question is too involved: {why}")


class QuestionsRefused(SparqlError):
    """More questions are under way than are answered at the same time, or the server is shutting down."""


class PlanError(SparqlError):
    """A plan that cannot be compiled; the message is written for the model that made the plan.

    `step` is the number of the step at fault, from 1; 0 means the plan as a whole.
    """

    def __init__(self, message: str, step: int = 0) -> None:
        super().__init__(message)
        self.step = step
