"""A short run of `make crash`: kill -9 under mixed writes."""

import pytest

from benchmarks.crash import main


@pytest.mark.slow
def test_two_kills_under_mixed_writes_lose_and_tear_nothing() -> None:
    # Reopening time is a figure for a quiet machine: `make crash` checks its bar.
    assert main(["--cycles", "2", "--clients", "1", "--reopen", "60", "--increments", "10"]) == 0
