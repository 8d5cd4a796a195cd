"""The cost of 1,000 tasks: seconds, tokens and, with prices, money (UrbanKGent, section 5.4)."""

from __future__ import annotations

from typing import Any, Final

from extractors.models.accounting import Prices
from extractors.readers.costs import Cost

__all__ = ["expenses_cells", "expenses_heads", "expenses_json"]

_THOUSAND: Final = 1000


def expenses_json(cost: Cost, tasks: int, prices: Prices) -> dict[str, Any]:
    """The expenses of a thousand tasks, and how many tasks they were measured on."""
    share = _THOUSAND / tasks if tasks else 0.0
    money = prices.cost(cost.prompt_tokens, cost.completion_tokens)
    return {
        "tasks": tasks,
        "per_1000_tasks": {
            "seconds": round(cost.seconds * share, 1),
            "turns": round(cost.turns * share),
            "prompt_tokens": round(cost.prompt_tokens * share),
            "completion_tokens": round(cost.completion_tokens * share),
            "cost": None
            if money is None
            else {"amount": round(money * share, 4), "currency": prices.currency},
        },
    }


def expenses_heads(prices: Prices) -> tuple[str, ...]:
    """The heads of `expenses_cells`."""
    money = (f"{prices.currency}/1000",) if prices.known else ()
    return ("s/1000", "tokens in/1000", "out/1000", *money)


def expenses_cells(cost: Cost, tasks: int, prices: Prices) -> tuple[str, ...]:
    """The expenses of a thousand tasks for a table."""
    found = expenses_json(cost, tasks, prices)["per_1000_tasks"]
    money = (f"{found['cost']['amount']:.2f}",) if found["cost"] else ()
    return (
        f"{found['seconds']:.0f}", f"{found['prompt_tokens']}", f"{found['completion_tokens']}", *money,
    )  # fmt: skip
