"""The code in the documents: blocks with their language, and files that a page asks its reader to make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(
    r"^`([\w.-]+)`(?: in a folder `(\w+)`)?:[^\n]*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and the line on which its text begins."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in its order."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        yield Block(page, text.count("\n", 0, found.start()) + 2, found[1], found[2])


def write_files(page: Path, folder: Path) -> list[Path]:
    """Write the files that a page shows as a block after a line that begins with the file's name."""
    written = []
    for name, inner, text in _FILE.findall(page.read_text(encoding="utf-8")):
        path = folder / inner / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def lines_of_commands(text: str) -> Iterator[str]:
    """The lines of a shell block that begin a command: no comment, no continuation, no text of another."""
    goes_on, ending, quotes = False, "", 0
    for line in text.splitlines():
        if ending:
            ending = "" if line == ending else ending
            continue
        if not goes_on and quotes % 2 == 0 and line.strip() and not line.startswith("#"):
            yield line
        here = re.search(r"<<'?(\w+)'?", line)
        ending = here[1] if here else ""
        quotes += line.count("'")
        goes_on = line.endswith("\\")
