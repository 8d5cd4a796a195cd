"""What a load prints is short, and says what and why."""

from server.data.loading import shortened


def test_a_short_message_stays_as_it_is() -> None:
    assert shortened("one\n line") == "one line"


def test_a_long_message_keeps_its_beginning_and_the_reason_at_its_end() -> None:
    message = "a.parquet, feature 1: " + "x" * 2000 + " Fix its rings."

    reported = shortened(message, 360)

    assert len(reported) <= 360
    assert reported.startswith("a.parquet, feature 1: x")
    assert reported.endswith("x Fix its rings.")
    assert f"... ({len(message)} characters) ..." in reported
