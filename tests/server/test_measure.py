"""`urbankg evaluate completion | urban | judge`: one command, a table, a report beside every answer."""

import json
from pathlib import Path

import pytest

from extractors.models.accounting import Prices
from server.commands_measure import measure_completion
from server.settings import Settings
from tests.extractors.tgi_stand_in import StandIn, running

PARK = "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"


def place(x: float, name: str = "Kiosk") -> dict[str, object]:
    return {"name": name, "geometry": {"type": "Point", "coordinates": [x, 1]}}


async def test_modes_are_compared_on_one_model_with_the_baseline_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    park = {"name": "Park", "type": "park", "geometry": PARK}
    rows = [{"head": place(x), "tail": park} for x in (1, 5, 9)]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join([*map(json.dumps, rows), "{broken"]))
    out = tmp_path / "run"
    with running(StandIn(answer='{"relation": "DC", "inner": "none"}')) as model:
        settings = Settings(model_url=model.url)
        modes = ("zero-shot", "1-shot")
        prices = Prices(1, 2, "EUR")
        for _ in range(2):  # the second finds everything answered
            await measure_completion(settings, [file], modes, out, limit=None, seed=0, prices=prices)
    report = json.loads((out / "completion.json").read_text())["modes"]
    assert list(report) == ["always DC", "zero-shot", "1-shot"]
    assert report["zero-shot"]["five"]["value"] == pytest.approx(2 / 3, abs=1e-3)
    assert report["zero-shot"]["per_1000_tasks"]["cost"]["currency"] == "EUR"
    assert report["1-shot"]["answers"] == {"DC": 3}
    written = capsys.readouterr()
    assert "always DC" in written.out
    assert "EUR/1000" in written.out
    assert "pairs.jsonl, line 4" in written.err
