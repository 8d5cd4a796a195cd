"""Which ontologies and shapes there are, and where: in packages that are unpacked, or beside this file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PACKAGES", "Pair", "pairs"]

PACKAGES = ("brickschema==0.8.0", "roc-validator==0.13.0", "voc4cat==1.2.0")
"""What `make vocabularies` unpacks. None of them is installed."""
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Pair:
    """An ontology and its shapes; the same file may be both."""

    name: str
    ontology: tuple[Path, ...]
    shapes: tuple[Path, ...]


def pairs(packages: Path) -> Iterator[Pair]:
    """All pairs; the files of packages must be there."""
    brick = packages / "brickschema/ontologies/1.5"
    crate = packages / "rocrate_validator/profiles/isa-ro-crate"
    concepts = packages / "voc4cat/profile/vp4cat-5.3.ttl"
    standard = brick / "extensions/223p.ttl"
    yield Pair("Brick 1.5", (brick / "Brick.ttl",), (brick / "Brick.ttl",))
    yield Pair("ASHRAE 223P", (standard,), (standard,))
    yield Pair("ISA-RO-Crate", (crate / "ontology.ttl",), tuple(sorted(crate.glob("[0-9]*.ttl"))))
    yield Pair("vp4Cat (SKOS vocabularies)", (), (concepts,))
    for name, folder in (("DCAT-AP's form", "catalog"), ("company", "company")):
        yield Pair(name, (_HERE / folder / "ontology.ttl",), (_HERE / folder / "shapes.ttl",))
