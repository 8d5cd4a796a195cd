"""The generated pages are what the code says, and shells complete the command line."""

import re
from pathlib import Path

import pytest

from docs.generate import FOLDER, pages
from server.cli.app import COMMANDS
from tests.support.prepared_processes import urbankg


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return pages()


def test_the_generated_pages_are_current(generated: dict[str, str]):
    there = {path.name: path.read_text(encoding="utf-8") for path in Path(FOLDER).iterdir()}
    assert set(there) == set(generated)
    stale = [name for name, text in generated.items() if there[name] != text]
    assert stale == [], "run: python -m docs.generate"


def test_every_command_has_a_section_and_says_what_it_does(generated: dict[str, str]):
    sections = dict(re.findall(r"^## `urbankg (.+)`\n\n(.+)$", generated["commands.md"], re.MULTILINE))
    assert {name.split()[0] for name in sections} == COMMANDS.keys()


def test_a_shell_completes_commands_and_options():
    def completed(*words: str) -> list[str]:
        line = " ".join(("urbankg", *words))
        place = str(len(words))
        done = urbankg(_URBANKG_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=place)
        return done.stdout.split()

    assert completed("re") == ["restore", "relate", "review"]
    assert "--data" in completed("serve", "--")
