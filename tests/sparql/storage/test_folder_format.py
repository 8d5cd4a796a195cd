"""A data folder carries the version of its format, and one of another version is not touched."""

from pathlib import Path

import pytest

from sparql.model.errors import FormatUnknown
from sparql.storage.database import FORMAT
from sparql.storage.embedded_store import EmbeddedStore


def test_a_new_folder_and_one_from_before_the_file_are_marked(tmp_path: Path) -> None:
    for _ in range(2):
        EmbeddedStore(tmp_path).close()
        assert (tmp_path / "format").read_text() == f"{FORMAT}\n"
        (tmp_path / "format").unlink()


@pytest.mark.parametrize("found", [f"{FORMAT + 1}\n", "", "x" * 100])
def test_a_folder_of_another_format_is_refused_with_the_commands_and_not_touched(
    tmp_path: Path, found: str
) -> None:
    (tmp_path / "format").write_text(found)
    with pytest.raises(FormatUnknown, match=r"urbankg dump .*`urbankg load"):
        EmbeddedStore(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["format"]
    assert (tmp_path / "format").read_text() == found
