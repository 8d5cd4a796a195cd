"""The fast part of `make hostile`: framing and names of files, against a real server."""

from collections.abc import Iterator

import pytest

from tests.support.attacks import framing, names
from tests.support.attacks.attack import Target, targets


@pytest.fixture(scope="module")
def open_server() -> Iterator[Target]:
    with targets() as (found, _):
        yield found


@pytest.mark.parametrize("group", [framing, names])
def test_the_server_holds(open_server: Target, group) -> None:
    failed = [result.line() for result in group.attacks(open_server) if not result.held]
    assert failed == []
