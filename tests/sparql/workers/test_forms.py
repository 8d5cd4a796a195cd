"""Forms of queries that took long."""

from sparql.workers.queue.slow_forms import SlowForms


def test_a_form_is_the_text_without_names_and_values() -> None:
    long = SlowForms(lambda: 0.0)
    long.note("a", "SELECT * { <http://e/a> ?p 'x' FILTER(?p > 5) }")

    assert long.known("a", "SELECT * { <http://e/b> ?p 'y \\' z' FILTER(?p > 77) }")
    assert not long.known("a", "SELECT * { <http://e/a> ?q 'x' FILTER(?p > 5) }")


def test_a_form_is_forgotten_after_its_time() -> None:
    now = [0.0]
    long = SlowForms(lambda: now[0], seconds=60)
    long.note("a", "ASK {}")
    now[0] = 59.0
    assert long.known("a", "ASK {}")
    now[0] = 61.0
    assert not long.known("a", "ASK {}")


def test_only_so_many_are_remembered() -> None:
    long = SlowForms(lambda: 0.0)
    for number in range(1200):
        long.note("a", f"ASK {{ ?v{'x' * number} ?p ?o }}")
    assert not long.known("a", "ASK { ?v ?p ?o }")
    assert long.known("a", f"ASK {{ ?v{'x' * 1199} ?p ?o }}")


def test_each_client_has_forms_of_its_own() -> None:
    long = SlowForms(lambda: 0.0)
    long.note("a", "SELECT * { <http://e/hub> ?p ?o }")
    assert long.known("a", "SELECT * { <http://e/1> ?p ?o }")
    assert not long.known("b", "SELECT * { <http://e/1> ?p ?o }")
