"""The table of clients says what a client did, and never that it works when it did not."""

import sys
from pathlib import Path

from clients.matrix import KNOWN, TRIED, Check, table, tried, written


def test_a_row_says_what_works_and_what_does_not() -> None:
    (name, does), reason = next(iter(KNOWN.items()))
    found = table(
        [
            Check("one", "1.0", "SELECT", None),
            Check("one", "1.0", "ASK", None),
            Check("one", "1.0", "UPDATE", "refused"),
            Check(name, "2.0", does, "refused"),
        ]
    )
    assert "| one | 1.0 | SELECT; ASK | works |" in found
    assert "| one | 1.0 | UPDATE | **fails** |" in found
    assert f"| {name} | 2.0 | {does} | the client's own: {reason} |" in found
    document = (TRIED.parents[1] / "docs/clients.md").read_text(encoding="utf-8")
    assert found in written(document, found)
    assert written(written(document, found), "").count("\n") < document.count("\n")


def test_a_program_that_ends_early_has_failed(tmp_path: Path) -> None:
    program = tmp_path / "early.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(TRIED)!r})\n"
        "from checks import run, same\n"
        "run('early', '1', {'right': lambda: same(1, 1), 'wrong': lambda: same(1, 2)})\n"
        "raise SystemExit('gone')\n"
    )
    right, wrong, end = tried([sys.executable, str(program)], "http://127.0.0.1:1")
    assert (right.outcome, wrong.outcome, end.outcome) == ("works", "**fails**", "**fails**")
    assert "found 1, expected 2" in (wrong.error or "")
    assert end.error == "gone"
