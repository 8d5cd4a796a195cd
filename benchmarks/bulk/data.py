"""A made-up city of any size as N-Triples: kinds, names in two languages, numbers, dates, points, links.

It conforms to the shipped shapes but for one building in a thousand, whose end is before its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

EX = "http://example.org/city/"
URBAN = "https://w3id.org/urbankg/urban#"
GEO = "http://www.opengis.net/ont/geosparql#"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
POINT = "<http://www.opengis.net/ont/sf#Point>"

KINDS = ("Museum", "Building", "Library", "Building", "School", "Building")
WORDS = "Oak Harbor Mill River Union Grand Liberty Station Garden Summit Maple Prospect".split()
DISTRICTS = 300
_POINTED = 5
"""One building in so many has a point."""
_BLOCK = 500


def write_city(path: Path, triples: int, *, seed: int = 15) -> int:
    """Write a city of at least so many triples; how many there are."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for lines in _blocks(Random(seed)):
            file.write("".join(lines))
            written += len(lines)
            if written >= triples:
                return written
    raise AssertionError("the blocks never end")


def _blocks(random: Random) -> Iterator[list[str]]:
    """Lines, some thousand buildings at a time."""
    districts = [f"<{EX}d{number}>" for number in range(DISTRICTS)]
    yield [f"{district} {TYPE} <{URBAN}Neighborhood> .\n" for district in districts]
    yield [f'{district} {LABEL} "District {number}"@en .\n' for number, district in enumerate(districts)]
    for start in count(0, _BLOCK):
        lines: list[str] = []
        for number in range(start, start + _BLOCK):
            lines += _building(number, random)
        yield lines


def _building(number: int, random: Random) -> list[str]:
    """The lines of one building; it is next to the one before it."""
    this = f"<{EX}b{number}>"
    name = f"{WORDS[number % 12]} {WORDS[random.randrange(12)]} {number}"
    year = random.randrange(1700, 2000)
    closed = year - 1 if number % 1000 == 1 else year + random.randrange(1, 40)
    lines = [
        f"{this} {TYPE} <{URBAN}{KINDS[number % 6]}> .\n",
        f'{this} {LABEL} "{name}"@en .\n',
        f"{this} <{URBAN}locatedIn> <{EX}d{random.randrange(DISTRICTS)}> .\n",
        f'{this} <{URBAN}floorCount> "{random.randrange(1, 90)}"^^<{XSD}nonNegativeInteger> .\n',
        f'{this} <{URBAN}height> "{random.randrange(30, 4000) / 10}"^^<{XSD}decimal> .\n',
        f'{this} <{URBAN}opened> "{year}-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}"'
        f"^^<{XSD}date> .\n",
        f'{this} <{URBAN}closed> "{closed}"^^<{XSD}gYear> .\n',
        f'{this} <{URBAN}address> "{random.randrange(1, 999)} {WORDS[random.randrange(12)]} Street" .\n',
    ]
    if number:
        lines.append(f"{this} <{URBAN}adjacentTo> <{EX}b{random.randrange(number)}> .\n")
    if number % 3 == 0:
        lines.append(f'{this} {LABEL} "{name} (Gebäude)"@de .\n')
    if number % _POINTED == 0:
        place = f"<{EX}b{number}/point>"
        west, north = -74.2 + random.random() * 0.5, 40.5 + random.random() * 0.4
        lines += [
            f"{this} <{GEO}hasDefaultGeometry> {place} .\n",
            f"{place} {TYPE} {POINT} .\n",
            f'{place} <{GEO}asWKT> "POINT({west:.7f} {north:.7f})"^^<{GEO}wktLiteral> .\n',
        ]
    return lines
