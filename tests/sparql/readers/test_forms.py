"""Forms of queries that took long."""

from sparql.readers.forms import LongForms


def test_a_form_is_the_text_without_names_and_values() -> None:
    long = LongForms(lambda: 0.0)
    long.note("SELECT * { <http://e/a> ?p 'x' FILTER(?p > 5) }")

    assert "SELECT * { <http://e/b> ?p 'y \\' z' FILTER(?p > 77) }" in long
    assert "SELECT * { <http://e/a> ?q 'x' FILTER(?p > 5) }" not in long


def test_a_form_is_forgotten_after_its_time() -> None:
    now = [0.0]
    long = LongForms(lambda: now[0], seconds=60)
    long.note("ASK {}")
    now[0] = 59.0
    assert "ASK {}" in long
    now[0] = 61.0
    assert "ASK {}" not in long


def test_only_so_many_are_remembered() -> None:
    long = LongForms(lambda: 0.0)
    for number in range(1200):
        long.note(f"ASK {{ ?v{'x' * number} ?p ?o }}")
    assert "ASK { ?v ?p ?o }" not in long
    assert f"ASK {{ ?v{'x' * 1199} ?p ?o }}" in long
