"""Inputs that cost more to answer than to send: no route computes past its limit, and others are answered."""

import os
from collections.abc import Iterator

import pytest

from tests.support.attacks.attack import Target
from tests.support.attacks.costly import limited_server, results
from tests.support.attacks.costly_inputs import inputs

LOOSE_P99_S = 1.0


@pytest.fixture(scope="module")
def server() -> Iterator[Target]:
    with limited_server() as target:
        yield target


def slack() -> float:
    """How much longer things take here: the machine is shared with other tests."""
    return max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


def test_there_are_inputs_for_every_route_that_computes() -> None:
    found = list(inputs())
    paths = {one.path.partition("?")[0] for one in found}
    assert len(found) >= 60
    assert paths >= {"/ask", "/extractions", "/candidates", "/relations", "/sparql", "/features", "/jobs"}
    assert paths >= {"/update", "/store", "/check", "/impact", "/shapes/hostile.ttl"}


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_each_ends_at_the_limit_of_its_route_beside_quick_lookups(
    server: Target, capsys: pytest.CaptureFixture[str], *, slow: bool
) -> None:
    chosen = [one for one in inputs() if one.slow == slow]
    found = list(results(server, chosen, p99_s=LOOSE_P99_S, slack=slack()))
    with capsys.disabled():
        print(*[one.line() for one in found if "lookups of" in one.name], sep="\n")
    assert [one.line() for one in found if not one.held] == []
