"""`urbankg demo`: the whole way, with the embedded model and with one that answers nothing."""

import re
from pathlib import Path

import pytest

from tests.support.prepared_processes import urbankg
from tests.support.tgi_stand_in import StandIn, running

pytestmark = pytest.mark.slow
LAST = re.compile(r"accepted=(\d+) refused=(\d+) rcc8=(\d+) rows=(\d+)$")


def last_line(output: str) -> tuple[int, ...]:
    found = LAST.search(output.strip())
    assert found, output[-500:]
    return tuple(int(group) for group in found.groups())


@pytest.mark.parametrize("answer", ['{"triples":[]}', ""])
def test_with_a_model_that_answers_nothing_nothing_is_accepted(tmp_path: Path, answer: str):
    with running(StandIn(answer=answer, troubles=["empty"] * 500 if not answer else [])) as model:
        done = urbankg("demo", "--data", str(tmp_path / "d"), URBANKG_MODEL_URL=model.url)
    assert done.returncode == 0, done.stderr
    accepted, refused, rcc8, rows = last_line(done.stdout)
    assert (accepted, refused) == (0, 0)
    assert rcc8 > 1000
    assert rows > 5


def test_the_embedded_model_gets_statements_accepted_and_some_refused(tmp_path: Path):
    done = urbankg("demo", "--data", str(tmp_path / "d"))
    assert done.returncode == 0, done.stderr
    accepted, refused, rcc8, rows = last_line(done.stdout)
    assert accepted > 20
    assert refused > 0
    assert rcc8 > 1000
    assert rows > 5
    assert len(done.stdout.splitlines()) < 40
