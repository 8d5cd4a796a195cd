"""Long work yields to other threads, and restores the interpreter's settings."""

import sys

import pytest

from sparql.storage.gil_yield import short_switch_interval, with_pauses


@pytest.mark.parametrize("count", [0, 1, 3999, 4000, 4001, 9000])
def test_all_items_come_in_their_order(count: int) -> None:
    assert list(with_pauses(iter(range(count)))) == list(range(count))


def test_the_switch_interval_is_short_until_the_last_user_ends() -> None:
    usual = sys.getswitchinterval()
    with short_switch_interval():
        with short_switch_interval():
            assert sys.getswitchinterval() < usual
        assert sys.getswitchinterval() < usual
    assert sys.getswitchinterval() == usual
