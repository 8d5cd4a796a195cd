"""Which OWL 2 profiles (EL, RL, QL, and DL itself) an ontology is in, and which axioms prevent it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pyowl2_profiles import detect_profiles
from pyoxigraph import Quad, Store, Triple

from ontology.checks.findings import Finding, Level, Rule
from ontology.schema import Schema

__all__ = ["NOT_DL", "Profile", "lint_profile", "profiles"]

NOT_DL = Rule("not_owl_dl", Level.WARN, "The axioms go beyond OWL 2 DL, so a reasoner may refuse them.")


@dataclass(frozen=True)
class Profile:
    """One profile (OWL 2 Profiles); `outside` counts the offending axioms by their kind."""

    name: str
    holds: bool
    outside: Mapping[str, int]


def profiles(triples: Collection[Triple]) -> tuple[Profile, ...]:
    """The profiles DL, EL, QL and RL of an ontology's triples."""
    store = Store()
    store.extend(Quad(*triple) for triple in triples)
    found = detect_profiles(store, None)
    return tuple(
        Profile(name, bool(found[name]["in_profile"]), dict(found[name]["violations_by_axiom_type"]))
        for name in ("dl", "el", "ql", "rl")
    )


def lint_profile(schema: Schema, found: Collection[Profile]) -> tuple[Finding, ...]:
    """One finding when the files together are not in OWL 2 DL."""
    outside = next((one.outside for one in found if one.name == "dl" and not one.holds), None)
    if outside is None:
        return ()
    said = ", ".join(f"{kind} ({count})" for kind, count in sorted(outside.items()))
    file = schema.files[0].path if schema.files else None
    return (
        Finding(
            NOT_DL,
            f"Outside OWL 2 DL: {said}.",
            "Change these axioms if you want to reason; the server itself works with them.",
            file=file,
        ),
    )
