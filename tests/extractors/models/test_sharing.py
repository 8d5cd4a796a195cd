"""What all users of a model share: its places, its circuit and its accounts."""

from __future__ import annotations

import asyncio

import pytest

from extractors.errors import ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.accounting import Account, Call, MeteredModel, Outcome, Prices, account, party
from extractors.models.http.endpoint import Circuit, Slots
from tests.support.scripted import ScriptedModel, words


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


class Callers:
    """Callers that take a place and keep it until they are released."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.inside: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.leave: dict[str, asyncio.Event] = {}

    async def come(self, name: str, party: str | None = None) -> None:
        async def stay() -> None:
            async with self.slots.turn(party):
                self.inside.append(name)
                await self.leave[name].wait()

        self.leave[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(stay())
        await settle()

    async def go(self, name: str) -> None:
        self.leave[name].set()
        await self.tasks[name]
        await settle()


async def test_places_are_given_in_order() -> None:
    callers = Callers(Slots(2))
    for name in "abcd":
        await callers.come(name)
    assert callers.inside == ["a", "b"]
    assert callers.slots.waiting == 2
    for name in "abcd":
        await callers.go(name)
    assert callers.inside == ["a", "b", "c", "d"]
    assert (callers.slots.taken, callers.slots.waiting) == (0, 0)


async def test_parties_take_turns() -> None:
    callers = Callers(Slots(1))
    for name in ("j1", "j2", "j3", "j4"):
        await callers.come(name, "job")
    await callers.come("p1", "person")
    for name in ("j1", "j2", "p1", "j3", "j4"):
        await callers.go(name)
    assert callers.inside == ["j1", "j2", "p1", "j3", "j4"]


async def test_a_caller_that_goes_while_waiting_leaves_no_gap() -> None:
    callers = Callers(Slots(1))
    for name in "abc":
        await callers.come(name)
    callers.tasks["b"].cancel()
    await settle()
    assert callers.slots.waiting == 1
    await callers.go("a")
    assert callers.inside == ["a", "c"]
    await callers.go("c")
    assert callers.slots.taken == 0


async def test_a_caller_that_goes_as_its_place_comes_passes_it_on() -> None:
    callers = Callers(Slots(1))
    for name in "abc":
        await callers.come(name)
    callers.leave["a"].set()
    await callers.tasks["a"]  # its place is b's now, and b has not run yet
    callers.tasks["b"].cancel()
    await settle()
    assert callers.inside[-1] == "c"
    await callers.go("c")
    assert (callers.slots.taken, callers.slots.waiting) == (0, 0)


async def test_more_places_let_those_in_who_wait() -> None:
    callers = Callers(Slots(1))
    for name in "abc":
        await callers.come(name)
    callers.slots.resize(3)
    await settle()
    assert callers.inside == ["a", "b", "c"]
    for name in "abc":
        await callers.go(name)


def failing(circuit: Circuit, error: Exception) -> None:
    with pytest.raises(type(error)), circuit.call():
        raise error


def test_a_circuit_opens_after_failures_in_a_row_and_says_why() -> None:
    circuit = Circuit(failures=3, rest_seconds=10, clock=lambda: 0.0)
    failing(circuit, ModelUnavailable("down"))
    failing(circuit, ModelTimeout("slow"))
    with circuit.call():
        pass
    for _ in range(2):
        failing(circuit, ModelUnavailable("down"))
    circuit.check()
    failing(circuit, ModelUnavailable("still down"))
    with pytest.raises(ModelUnavailable, match="still down"):
        circuit.check()


def test_an_overloaded_server_and_a_useless_reply_open_nothing() -> None:
    circuit = Circuit(failures=1)
    failing(circuit, ModelUnavailable("busy", overloaded=True))
    failing(circuit, ModelReplyError("not JSON", "x"))
    failing(circuit, KeyError("a bug of ours"))
    assert circuit.state == "closed"


def test_one_call_tries_again_and_others_are_refused_meanwhile() -> None:
    now = 0.0
    circuit = Circuit(failures=1, rest_seconds=10, clock=lambda: now)
    failing(circuit, ModelUnavailable("down"))
    now = 11.0
    assert circuit.state == "half-open"
    with circuit.call(), pytest.raises(ModelUnavailable, match="just now"):
        circuit.check()
    assert circuit.state == "closed"


def test_a_failed_trial_opens_the_circuit_again() -> None:
    now = 0.0
    circuit = Circuit(failures=3, rest_seconds=10, clock=lambda: now)
    for _ in range(3):
        failing(circuit, ModelUnavailable("down"))
    now = 11.0
    failing(circuit, ModelUnavailable("down"))
    assert circuit.state == "open"


async def test_calls_are_noted_in_the_account_that_is_open_and_in_the_total() -> None:
    reported: list[Call] = []
    broken = ModelReplyError("cut off", "x", prompt_tokens=30, completion_tokens=20)
    model = MeteredModel(ScriptedModel(words("a"), broken, ModelTimeout("slow"), words("b")), reported.append)
    with account() as outer:
        await model.complete([], schema=None, max_tokens=1)
        with account() as inner:
            for kind in (ModelReplyError, ModelTimeout):
                with pytest.raises(kind):
                    await model.complete([], schema=None, max_tokens=1)
    await model.complete([], schema=None, max_tokens=1)
    assert (inner.calls, inner.failed, inner.prompt_tokens, inner.completion_tokens) == (2, 2, 30, 20)
    assert (outer.calls, outer.failed, outer.prompt_tokens, outer.completion_tokens) == (3, 2, 130, 70)
    assert (model.total.calls, model.total.prompt_tokens) == (4, 230)
    assert [call.outcome for call in reported] == [
        Outcome.ANSWERED,
        Outcome.UNUSABLE,
        Outcome.TIMEOUT,
        Outcome.ANSWERED,
    ]


async def test_tasks_that_a_run_starts_are_on_its_account_and_runs_side_by_side_are_apart() -> None:
    model = MeteredModel(ScriptedModel(words("a")))

    async def run(calls: int) -> Account:
        with account() as opened:
            await asyncio.gather(*(model.complete([], schema=None, max_tokens=1) for _ in range(calls)))
        return opened

    one, other = await asyncio.gather(run(2), run(5))
    assert (one.calls, other.calls) == (2, 5)


def test_a_job_is_one_party_whatever_it_opens_inside() -> None:
    assert party() is None
    with account() as job:
        outside = party()
        with account():
            assert party() == outside == id(job)


def test_money_follows_the_prices() -> None:
    sums = Account(calls=3, retries=1, prompt_tokens=2_000_000, completion_tokens=500_000)
    sums.finish_task(4.0)
    sums.finish_task(6.0)
    reported = sums.json(Prices(0.5, 2.0, "EUR"))
    assert reported["cost"] == {"amount": 2.0, "currency": "EUR"}
    assert reported["per_1000_tasks"] == {
        "seconds": 5000.0,
        "prompt_tokens": 1_000_000_000,
        "completion_tokens": 250_000_000,
        "cost": {"amount": 1000.0, "currency": "EUR"},
    }
    assert sums.json(Prices())["cost"] is None


def test_one_price_alone_counts() -> None:
    assert Prices(output_per_million=1.0).cost(5_000_000, 1_000_000) == 1.0
    assert Prices().cost(1, 1) is None
