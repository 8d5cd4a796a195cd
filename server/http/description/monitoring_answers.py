"""Models of the answers about verdicts and queries of the past."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from server.http.description.parts import Answer


class VerdictPeriod(Answer):
    """How many statements the gate judged in an hour or a day. Those with a warning are accepted too."""

    start: str = Field(description="Its beginning, in UTC.")
    accepted: int
    refused: int
    warned: int


class ShapeVerdicts(Answer):
    """How many statements a shape refused and warned of; a statement counts for each of its shapes."""

    shape: str | None = Field(description="Its IRI; null for shapes without one and for other reasons.")
    refused: int
    warned: int
    refused_rate: float | None = Field(description="Share of all statements judged; null where none was.")
    warned_rate: float | None
    refused_by_period: list[int] = Field(description="In the order of `periods`.")
    warned_by_period: list[int]


class Verdicts(Answer):
    """The gate's verdicts over time, without dry runs."""

    step: Literal["hour", "day"]
    periods: list[VerdictPeriod] = Field(description="The oldest first; the last one is not over.")
    shapes: list[ShapeVerdicts] = Field(description="Those with most statements first, at most 200.")


class SlowQuery(Answer):
    """A query that took long. Times in seconds, from the request's head to the end of its answer."""

    query: str | None = Field(description="At most 4,000 characters; null for who may not see it.")
    complete: bool = Field(description="Whether that is all of the query.")
    times: int = Field(description="How often it took so long.")
    longest: float
    mean: float = Field(description="Of the times it took so long.")
    last: str = Field(description="When it ended last, in UTC.")
    status: int = Field(description="How it ended last (HTTP); 504 at its time limit, 499: its client left.")


class SlowQueries(Answer):
    """The slowest queries of the last day since the start, at most 100."""

    threshold: float = Field(description="The setting `slow_query_s`; 0: none is kept.")
    queries: list[SlowQuery] = Field(description="The slowest first.")
