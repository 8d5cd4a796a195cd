"""Training examples for ask plans: a question, what was linked in it, and the plan as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from research.training.frames.compose import NameMaker, held_out

_FRAMES = Path(__file__).with_name("questions.txt")
_SLOT = re.compile(r"\{(\w+):(\w+)\}")
_PLURALS = {
    "church": "churches",
    "company": "companies",
    "beach": "beaches",
    "gallery": "galleries",
    "borough": "boroughs",
}
# The classes that a question about each kind of thing may name.
_CLASSES: dict[str, tuple[str, ...]] = {
    "museum": ("museum", "theater", "library", "concert hall", "zoo", "hotel"),
    "bridge": ("bridge", "tunnel", "pier"),
    "station": ("subway station", "train station", "station", "ferry terminal", "bus terminal", "airport"),
    "tower": ("skyscraper", "building", "office building", "hotel", "courthouse", "monument", "restaurant"),
    "park": ("park", "garden", "square", "cemetery", "beach", "campus"),
    "church": ("church", "cathedral", "synagogue", "mosque", "temple", "place of worship"),
    "library": ("library", "school", "hospital", "market", "shop", "police station"),
    "university": ("university", "college", "school", "research institute"),
    "hospital": ("hospital", "fire station", "police station", "hotel"),
    "area": ("neighborhood", "borough", "historic district", "community district", "city"),
    "stadium": ("stadium", "sports venue", "concert hall"),
    "line": ("subway line", "rail line"),
    "street": ("street", "avenue", "road", "highway"),
    "company": ("company", "newspaper", "organization", "government agency"),
}
_OTHER_WORDS = {"subway station": "metro station", "theater": "theatre", "neighborhood": "neighbourhood",
                "skyscraper": "high-rise", "restaurant": "eatery", "place of worship": "house of worship",
                "shop": "store", "cemetery": "graveyard", "park": "green space"}  # fmt: skip


def _plural(word: str) -> str:
    head, last = word.rpartition(" ")[::2]
    if last in ("park", "place", "house") and " of " in word:
        first, rest = word.split(" of ", 1)
        return f"{_plural(first)} of {rest}"
    if word.startswith("place of"):
        return "places of worship"
    made = _PLURALS.get(last) or (last[:-1] + "ies" if last.endswith(("ry", "ty")) else last + "s")
    return f"{head} {made}".strip()


class QuestionMaker:
    """Makes question examples from the training frames, or from those held out for validation."""

    def __init__(
        self, random: Random, classes: Sequence[str], relations: Sequence[str], *, validation: bool
    ) -> None:
        self._random = random
        self._names = NameMaker(random, validation=validation)
        self._classes, self._relations = tuple(classes), tuple(relations)
        lines = [
            line for line in _FRAMES.read_text(encoding="utf-8").splitlines() if line[:1] not in ("#", "")
        ]
        frames = list(zip(lines[0::2], [line.removeprefix("> ") for line in lines[1::2]], strict=True))
        self._frames = [frame for frame in frames if held_out(frame[0]) == validation]

    def example(self) -> tuple[str, str]:
        """Make the user's message and the answer."""
        random = self._random
        question, plan = random.choice(self._frames)
        slots: dict[str, Any] = {}
        names: list[str] = []
        classes: list[str] = []

        def put(match: re.Match[str]) -> str:
            slot, kind = match.groups()
            if kind == "distance":
                number = random.choice((0.2, 0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 12, 25))
                metres = number < 1 or random.random() < 0.15
                slots[slot] = number
                if metres:
                    return f"{number * 1000:g} " + random.choice(("metres", "m", "meters"))
                return f"{number:g} " + random.choice(("km", "kilometres", "kilometers", "km"))
            if slot in ("c", "cs"):
                label = random.choice(_CLASSES[kind])
                slots["c"] = label
                classes.append(label)
                shown = _OTHER_WORDS.get(label, label) if random.random() < 0.12 else label
                return _plural(shown) if slot == "cs" else shown
            made = self._names.make(kind)
            slots[slot] = made.text
            names.append(made.text)
            return made.in_prose()

        text = _SLOT.sub(put, question)
        text = text[0].upper() + text[1:]
        if random.random() < 0.08:
            text = text.rstrip("?.").lower() if not names else text.rstrip("?.")
        relations: list[str] = []
        steps = [self._step(part.split(), slots, relations) for part in plan.split(" ; ")]
        user = self._prompt(text, names, classes, relations)
        return user, json.dumps({"steps": steps}, ensure_ascii=False, separators=(",", ":"))

    def _step(self, words: list[str], slots: dict[str, Any], relations: list[str]) -> dict[str, Any]:
        op, rest = words[0], words[1:]
        if op == "count":
            return {"op": "count"}
        if op == "find":
            return {"op": "find", "class": slots.get(rest[0], "NONE")}
        if op == "entity":
            return {"op": "entity", "name": slots.get(rest[0], "NONE")}
        if op == "near":
            return {"op": "near", "of": slots[rest[0]], "km": slots.get(rest[1], 0)}
        if op in ("within", "touches"):
            return {"op": op, "of": slots.get(rest[0], "NONE")}
        target = slots[rest[rest.index("to") + 1]] if "to" in rest else None
        relation = " ".join(rest[: rest.index("to")] if "to" in rest else rest)
        if relation != "NONE":
            relations.append(relation)
        step = {"op": "relate", "property": relation}
        return step if target is None else {**step, "to": target}

    def _prompt(self, text: str, names: list[str], classes: list[str], relations: list[str]) -> str:
        """Offer what was linked, among others that were linked by mistake."""
        random = self._random
        if random.random() < 0.15:
            # A second, similar name that the linker found as well.
            names = [*names, self._names.make(random.choice(("tower", "district", "museum"))).text]
        for pool, offered, most in ((self._classes, classes, 6), (self._relations, relations, 8)):
            others = [label for label in pool if label not in offered]
            offered += random.sample(others, random.randint(0 if offered else 1, most))
            random.shuffle(offered)
        random.shuffle(names)
        return (
            f"Question: {text}\nNames: {'; '.join(dict.fromkeys(names))}\n"
            f"Classes: {'; '.join(classes)}\nRelations: {'; '.join(relations)}"
        )
