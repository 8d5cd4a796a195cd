"""What other threads use can be pickled meanwhile."""

import pickle
from functools import cached_property
from typing import Any

from ontology.schema import state_without_cached


class Interruption:
    """Another thread comes in where this is pickled."""

    def __init__(self, used: "Used") -> None:
        self.used = used

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        assert self.used.letters == 5
        return int, (0,)


class Used:
    def __init__(self) -> None:
        self.word = "words"
        self.interruption: object = Interruption(self)
        self.last = "last"

    @cached_property
    def letters(self) -> int:
        return len(self.word)

    def __getstate__(self) -> dict[str, Any]:
        return state_without_cached(self)


def test_a_property_that_is_computed_while_its_owner_is_pickled_does_not_disturb_it() -> None:
    read = pickle.loads(pickle.dumps(Used()))

    assert vars(read) == {"word": "words", "interruption": 0, "last": "last"}


def test_what_was_computed_before_is_left_out_and_computed_again() -> None:
    used = Used()
    assert used.letters == 5

    read = pickle.loads(pickle.dumps(used))

    assert "letters" not in vars(read)
    assert read.letters == 5
