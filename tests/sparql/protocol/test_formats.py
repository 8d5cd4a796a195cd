import pytest

from sparql.protocol.formats import BY_NAME, GRAPH_FORMATS, RESULT_FORMATS, Format


def test_every_short_name_is_used_once() -> None:
    assert len(BY_NAME) == len(RESULT_FORMATS) + len(GRAPH_FORMATS)


@pytest.mark.parametrize("format_", [*RESULT_FORMATS, *GRAPH_FORMATS], ids=lambda one: one.name)
def test_the_engine_and_the_table_agree_on_the_media_type(format_: Format) -> None:
    assert format_.engine.media_type.partition(";")[0] == format_.media_type


def test_text_types_carry_their_charset() -> None:
    assert BY_NAME["csv"].content_type == "text/csv; charset=utf-8"
    assert BY_NAME["turtle"].content_type == "text/turtle; charset=utf-8"
    assert BY_NAME["json"].content_type == "application/sparql-results+json"
