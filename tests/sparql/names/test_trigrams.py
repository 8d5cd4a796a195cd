"""What the index of trigrams finds is what comparing with every name would find."""

import random

import pytest

from sparql.names.label_state import TrigramIndex, _trigrams

WORDS = ["museum", "park", "hall", "house", "mill", "old", "new", "river", "north", "york", "lane"]
FLOOR = 0.4


def name(rng: random.Random) -> str:
    number = rng.choice(["", f" {rng.randint(1, 300)}"])
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 3))) + number


def compared(names: set[str], wanted: str, limit: int) -> list[tuple[str, float]]:
    """The same by looking at each name."""
    grams, found = _trigrams(wanted), []
    for one in names:
        theirs = _trigrams(one)
        score = 2 * len(grams & theirs) / (len(grams) + len(theirs))
        if score >= FLOOR:
            found.append((-score, one))
    return [(one, -score) for score, one in sorted(found)[:limit]]


@pytest.mark.parametrize("seed", range(40))
def test_the_best_names_are_found_whatever_is_read_of_the_index(seed: int):
    rng = random.Random(seed)
    names = {name(rng) for _ in range(rng.choice([5, 100, 1000]))}
    index = TrigramIndex(FLOOR)
    for one in sorted(names):
        index.add(one)
    for one in rng.sample(sorted(names), len(names) // 4):
        index.discard(one)
        names.discard(one)
    for _ in range(8):
        wanted, limit = name(rng), rng.choice([1, 3, 20])
        assert index.similar(wanted, limit) == compared(names, wanted, limit)


def test_names_that_differ_in_a_number_alone_do_not_all_have_to_be_read():
    index = TrigramIndex(FLOOR)
    for number in range(3000):
        index.add(f"museum {number}")
    assert index.similar("museum 1234", 5)[0] == ("museum 1234", 1.0)
    assert 0 < index.read < 3000
