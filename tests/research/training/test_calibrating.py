"""Raw scores made into probabilities that mean what they say."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors.checks.calibration import Calibration, load_calibration
from extractors.errors import CalibrationError
from research.training.evaluate import fit_isotonic, reliability

JUDGED = st.lists(
    st.tuples(st.floats(0, 1, allow_nan=False), st.booleans()), min_size=2, max_size=60
)  # fmt: skip


def overconfident(count: int) -> tuple[list[float], list[bool]]:
    """Scores that claim more than is so: of those with score s, s squared are right."""
    chance = random.Random(7)
    scores = [chance.random() for _ in range(count)]
    return scores, [chance.random() < score**2 for score in scores]


def test_a_fitted_map_is_far_closer_to_the_truth_than_the_raw_scores() -> None:
    scores, right = overconfident(3000)
    held_scores, held_right = overconfident(1000)
    made = fit_isotonic(scores, right)
    before = reliability(held_scores, held_right)
    after = reliability([made.probability(score) for score in held_scores], held_right)
    assert before.ece > 0.12
    assert after.ece < 0.05
    assert after.brier < before.brier


@given(judged=JUDGED, others=st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_the_map_never_falls_and_stays_between_0_and_1(judged, others: list[float]) -> None:
    made = fit_isotonic([score for score, _ in judged], [right for _, right in judged])
    low, high = sorted(others)
    assert 0 <= made.probability(low) <= made.probability(high) <= 1
    assert Calibration.from_json(made.as_json()) == made


def test_nothing_is_ever_certain() -> None:
    made = fit_isotonic([0.1, 0.2, 0.8, 0.9], [False, False, True, True])
    assert 0 < made.probability(0.0) < 0.5 < made.probability(1.0) < 1


def test_worthless_scores_become_the_share_of_right_statements() -> None:
    made = fit_isotonic([0.1, 0.2, 0.8, 0.9] * 10, [True, True, False, False] * 10)
    assert made.probability(0.1) == made.probability(0.9) == pytest.approx(0.5, abs=0.01)


def test_reliability_is_counted_in_bins() -> None:
    found = reliability([0.05, 0.95, 0.95, 0.95, 0.95], [False, True, True, True, False])
    assert [(one.count, one.right) for one in found.bins] == [(1, 0.0), (4, 0.75)]
    assert found.ece == pytest.approx((0.05 + 4 * 0.2) / 5)
    assert found.brier == pytest.approx((4 * 0.05**2 + 0.95**2) / 5)
    assert "ECE 0.170" in found.as_text()


def test_the_file_beside_an_adapter_is_read_if_it_is_there(tmp_path: Path) -> None:
    assert load_calibration(tmp_path) is None
    made = fit_isotonic([0.1, 0.9, 0.8], [False, True, True], data="dev")
    (tmp_path / "calibration.json").write_text(made.as_json())
    assert load_calibration(tmp_path) == made


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"version": 2, "method": "platt", "knots": []}',
     '{"version": 1, "method": "platt", "fitted_on": 3, "knots": [[0, 0.9], [1, 0.1]]}',
     '{"version": 1, "method": "platt", "fitted_on": 3, "knots": [[0, 0.1], [0, 0.2]]}',
     '{"version": 1, "method": "platt", "fitted_on": 3, "knots": []}',
     '{"version": 1, "method": "platt", "fitted_on": 3, "knots": [[0, NaN]]}'],
)  # fmt: skip
def test_a_broken_file_is_refused_with_its_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "calibration.json").write_text(content)
    with pytest.raises(CalibrationError, match=r"calibration\.json"):
        load_calibration(tmp_path)


@pytest.mark.parametrize(("scores", "right"), [([], []), ([0.5], [True]), ([0.5, 2.0], [True, False]),
                                               ([0.1, 0.2], [True])])  # fmt: skip
def test_what_nothing_can_be_fitted_to_is_refused(scores: list[float], right: list[bool]) -> None:
    with pytest.raises(CalibrationError):
        fit_isotonic(scores, right)
