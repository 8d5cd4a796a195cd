"""The suites' files: an archive or a folder that holds `sparql10`, `sparql11` and `sparql12`."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ARCHIVE = "sparql.tar.xz"


class SuitesMissing(Exception):
    """The suites are not where they were looked for."""

    def __init__(self, place: Path) -> None:
        super().__init__(
            f"There are no W3C SPARQL suites at {place}. Give a folder that holds {ARCHIVE} (the sparql "
            "folder of github.com/w3c/rdf-tests, packed) or sparql11/, as argument."
        )


@contextmanager
def unpacked(place: Path) -> Iterator[Path]:
    """The folder that holds `sparql11`; an archive is unpacked for the time being. Raises SuitesMissing."""
    for folder in (place, place / "sparql"):
        if (folder / "sparql11").is_dir():
            yield folder
            return
    archive = place if place.is_file() else place / ARCHIVE
    if not archive.is_file():
        raise SuitesMissing(place)
    with TemporaryDirectory(prefix="w3c-sparql-") as folder_name:
        with tarfile.open(archive) as packed:
            packed.extractall(folder_name, filter="data")
        with unpacked(Path(folder_name)) as folder:
            yield folder
