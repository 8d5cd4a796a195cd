"""The scores of Text2KGBench, against cases counted by hand."""

import pytest

from research.text2kgbench.reading import Fact
from research.text2kgbench.scoring import Counts, count, estimate

SENTENCE = "Bambi is a film directed by David Hand, made in the studios of Burbank."
DIRECTOR = Fact("Bambi", "director", "David Hand")
PLACE = Fact("Bambi", "filming location", "Burbank")
WRONG = Fact("Bambi", "director", "Walt Disney")
ELSEWHERE = Fact("Bambi", "cast member", "David Hand")


def counted(stated: list[Fact], gold: list[Fact] | None) -> Counts:
    return count(
        stated,
        gold,
        sentence=SENTENCE,
        relations=["director", "filming location", "cast member"],
        concepts=["film", "human"],
    )


def test_strict_counts_every_triple_and_the_official_scorer_only_those_of_the_golds_relations() -> None:
    found = counted([DIRECTOR, WRONG, ELSEWHERE], [DIRECTOR, PLACE])
    assert (found.right, found.told, found.gold) == (1, 3, 2)
    assert (found.official_precision, found.official_recall) == (0.5, 0.5)
    assert found.official_f1 == pytest.approx(0.5)


def test_words_are_compared_without_case_blanks_and_underscores() -> None:
    same = Fact("BAMBI", "filming_location", " bur_bank")
    found = counted([same], [PLACE])
    assert (found.right, found.official_f1, found.conforming) == (1, 1.0, 1)


def test_the_same_triple_stated_twice_counts_once() -> None:
    found = counted([DIRECTOR, Fact("bambi", "director", "David  Hand")], [DIRECTOR])
    assert (found.right, found.told, found.official_precision) == (1, 1, 1.0)


def test_gold_fed_back_does_not_reach_one_because_empty_gold_scores_nothing() -> None:
    one, empty = counted([DIRECTOR], [DIRECTOR]), counted([], [])
    scores = estimate([[[one, empty]]], seed=1)
    assert scores["official_f1"].value == 0.5
    assert scores["strict_f1"].value == 1.0


def test_a_sentence_without_known_gold_counts_neither_for_nor_against() -> None:
    scores = estimate([[[counted([DIRECTOR], [DIRECTOR]), counted([WRONG, ELSEWHERE], None)]]], seed=1)
    assert (scores["strict_precision"].value, scores["official_f1"].value) == (1.0, 1.0)
    assert "strict_f1" not in estimate([[[counted([WRONG], None)]]], seed=1)


def test_a_relation_outside_the_ontology_does_not_conform_and_is_made_up() -> None:
    found = counted([DIRECTOR, Fact("Bambi", "was made by", "David Hand")], None)
    assert (found.triples, found.conforming, found.made_up_relations) == (2, 1, 0.5)
    assert counted([], None).official_conformance == 1.0


def test_ends_that_stand_nowhere_are_made_up_but_not_their_inflections_or_concepts() -> None:
    stated = [
        Fact("Bambi", "filming location", "studio of Burbank"),
        Fact("films", "director", "human"),
        Fact("Pinocchio", "director", "Walt Disney"),
    ]
    found = counted(stated, None)
    assert (found.made_up_subjects, found.made_up_objects) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_a_year_given_as_the_first_of_january_is_not_made_up() -> None:
    stated = [Fact("Bambi", "publication date", "01 January 1942")]
    found = count(stated, None, sentence="Bambi came out in 1942.", relations=[], concepts=[])
    assert found.made_up_objects == 0.0


def test_official_scores_are_averaged_over_ontologies_and_strict_ones_over_triples() -> None:
    good = [counted([DIRECTOR], [DIRECTOR])] * 3
    bad = [counted([WRONG], [DIRECTOR])]
    scores = estimate([[good, bad]], seed=1)
    assert scores["official_f1"].value == 0.5
    assert scores["strict_f1"].value == 0.75
    assert scores["strict_f1_macro"].value == 0.5


def test_samples_are_averaged() -> None:
    right, wrong = [counted([DIRECTOR], [DIRECTOR])], [counted([WRONG], [DIRECTOR])]
    assert estimate([[right], [wrong]], seed=1)["strict_f1"].value == 0.5


def test_an_interval_holds_the_score_and_is_the_same_for_the_same_seed() -> None:
    half = [[[counted([DIRECTOR], [DIRECTOR])] * 20 + [counted([WRONG], [DIRECTOR])] * 20]]
    first, again = estimate(half, seed=7), estimate(half, seed=7)
    f1 = first["strict_f1"]
    assert 0.2 < f1.low < f1.value == 0.5 < f1.high < 0.8
    assert first == again


def test_nothing_read_has_no_scores() -> None:
    assert estimate([[[]]], seed=1) == {}
