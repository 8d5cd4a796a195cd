"""Plain words in names, comments, messages and pages (docs/decisions/0092-words.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_architecture import MAY_IMPORT, ROOT

INSTEAD = {
    "told": "reported, returned, received, message",
    "tells?|telling": "reports, returns, names, separates",
    "mend(s|ed|ing)?": "fix, repair, correct",
    "whoever": "the client, the request",
    "workplaces?|rulebooks?": "rule_registry, ruleset",
    "desks?": "the service that it is",
    "outlets?": "handover",
    "strip_run": "tiled_run",
    "kept_plan": "plan_cache",
    "likeness": "similarity",
    "stated_geometry": "place_conflicts",
    "hedges": "negation_and_modality",
    "surveying": "background_validation",
    "traits": "capabilities",
    "waits? no longer": "no longer waits",
    "patience(?!_s)": "client_limits, the time limit, a minute",
    "trials?": "what_if, a dry run",
    "blame[sd]?": "attribution, charge",
    "sought": "wanted, searched for",
    "goes with(?!out)": "is deleted with, is used with",
    "lets? in": "accepts, accepted",
    "comes? in(?= by| so|[.;,]|$)": "is accepted, is sent, arrives",
    "(?:ontology|shapes|disk|each|own)[ _]rooms?": "package, space",
}
"""Words that a newcomer stops at, and what to say."""
MODULES = {
    *("told", "mend", "room", "desk", "way", "bench", "holding", "patience", "workplace", "rulebook"),
    *("outlets", "watching", "turns", "strip_run", "consequences", "traits", "whole", "sought", "openings"),
    *(
        "anchors",
        "copying",
        "doubts",
        "rivals",
        "hedges",
        "windows",
        "minting",
        "likeness",
        "moving",
        "strips",
    ),
    *("compiling", "surveying", "trial", "blame", "digests", "prefetch", "kept_plan", "meeting"),
    *("stated_geometry", "desks", "queueing", "written_places"),
    *("gathering", "durations", "utils", "helpers", "common", "manager"),
}
"""Names that no module has; most are plain words within a sentence, where nothing searches for them."""
SPEECH = (
    "extractors/english",
    "extractors/prompts",
    "extractors/research/",
    "server/research/",
    "tests/extractors",
)
"""Folders about what texts and models say: "told" is a word of those, and a member of stored results."""
PUBLIC = {
    "CODE_OF_CONDUCT.md": "the people of the project",
    "SECURITY.md": "the people of the project",
    "docs/decisions/0045-forms-of-questions.md": "quotes a question",
    "docs/decisions/0092-words.md": "is about these words",
    "ontology/checks/reporting.py": "the member `mend` of reports",
    "extractors/models/http/circuit.py": "the trial call of a circuit breaker",
    "tests/extractors/models/http/test_troubles.py": "the trial call of a circuit breaker",
    "server/http/description/rules_answers.py": "the members `mend` and `mended`",
    "server/mcp/protocol.py": "instructions to a model",
    "server/rules/rule_effects.py": "the member `mended`",
    "sparql/ask/linking/forms.py": "quotes a question",
    "tests/server/research/test_measure.py": "the count `told` of stored results",
    "tests/server/rules/test_impact.py": "the member `mended`",
    "tests/server/http/routes/curation/test_proposals.py": "a text to extract from",
    "tests/server/intake/resolution/test_geocoding.py": "a text to extract from",
    "tests/sparql/ask/linking/test_forms.py": "questions",
    "tests/sparql/ask/test_question_forms.py": "questions",
    "tests/test_words.py": "is about these words",
}
"""Files that have one of the words for a reason."""
PATTERNS = {
    re.compile(rf"(?<![A-Za-z])({word})(?![A-Za-z])", re.IGNORECASE): say for word, say in INSTEAD.items()
}
"""They find a word in names, too: `test_it_is_told`."""
ANY = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(INSTEAD)})(?![A-Za-z])", re.IGNORECASE)
"""Whether a line has any of them: hardly one has."""


def texts() -> Iterator[Path]:
    """Code, tests, benchmarks and written pages."""
    for folder in (*MAY_IMPORT, "tests", "benchmarks", "clients"):
        # `make clients` installs packages below its folder.
        yield from (path for path in (ROOT / folder).rglob("*.py") if ".venv" not in path.parts)
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks/README.md"):
        if page.name != "CHANGELOG.md":
            yield page


def house_words(text: str) -> list[str]:
    """Each line that has one of the words, with its number and what to say."""
    return [
        f"{number}: {line.strip()[:100]} ({say})"
        for number, line in enumerate(text.splitlines(), 1)
        if ANY.search(line)
        for pattern, say in PATTERNS.items()
        if pattern.search(line) and ".tell()" not in line
    ]


def test_no_text_has_a_word_of_the_house() -> None:
    found = {}
    for path in texts():
        name = str(path.relative_to(ROOT))
        if name in PUBLIC or name.startswith(SPEECH) or "node_modules" in name or ".venv" in name:
            continue
        if lines := house_words(path.read_text(encoding="utf-8")):
            found[name] = lines
    assert found == {}


def test_no_module_is_named_by_a_word_of_the_house() -> None:
    named = [
        path
        for path in texts()
        if house_words(path.stem.replace("_", " ") + "\n" + path.stem)
        or (path.suffix == ".py" and path.stem in MODULES)
    ]
    assert named == []


def test_an_exception_is_still_needed() -> None:
    """Else it would hide the next such word."""
    unneeded = [name for name in PUBLIC if not house_words((ROOT / name).read_text(encoding="utf-8"))]
    assert unneeded == []


@pytest.mark.parametrize(
    "line",
    [
        *("def test_it_is_told() -> None:", "# The writer is told.", "Whoever asks", "a desk", "is_told = 1"),
        *("as patience:", "what the gate lets in", "Jobs come in by these routes", "ontology_room"),
    ],
)
def test_a_word_is_found_in_names_and_sentences(line: str) -> None:
    assert house_words(line)


@pytest.mark.parametrize(
    "line",
    [
        *("file.tell()", "recommended", "an intelligent reader", "a desktop", "PATIENCE_S"),
        *("goes without it", "pages that come in order", "a reading room"),
    ],
)
def test_other_words_stay(line: str) -> None:
    assert not house_words(line)
