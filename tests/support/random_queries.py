"""Makes spatial queries by chance, in every shape that rewriting must not change the answer of."""

from __future__ import annotations

import random

_RELATIONS = [
    *("sfEquals", "sfDisjoint", "sfIntersects", "sfTouches", "sfCrosses", "sfWithin", "sfContains"),
    *("sfOverlaps", "ehEquals", "ehMeet", "ehOverlap", "ehCovers", "ehCoveredBy", "ehInside", "ehContains"),
    *("ehDisjoint", "rcc8eq", "rcc8dc", "rcc8ec", "rcc8po", "rcc8tpp", "rcc8ntpp", "rcc8tppi", "rcc8ntppi"),
]
_LIKELY = ["sfWithin", "sfIntersects", "sfContains", "sfTouches", "rcc8ntpp", "ehInside"]


_LEFT = [
    *("?f a ?t", "?f a ex:Place", "?f a ex:Park", "?f rdfs:label ?l", "VALUES ?f { ex:f1 ex:f2 ex:f9 }"),
    *("?f geo:hasGeometry ?g", "OPTIONAL { ?f a ex:Shop ; rdfs:label ?l }", "VALUES ?f { ex:f1 UNDEF }"),
]


class QueryMaker:
    """One query after another from a seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._count = 0

    def one(self) -> str:
        """A query."""
        form = self._chance.choice(
            ["SELECT *", "SELECT ?f", "SELECT ?f ?w", "SELECT DISTINCT ?f", "ASK", "C"]
        )
        group = self._group(2)
        if form == "C":
            return f"CONSTRUCT {{ ?f ex:found ?w }} WHERE {group}"
        if form == "SELECT ?f" and self._chance.random() < 0.3:
            return f"SELECT (COUNT(*) AS ?n) (MIN(?w) AS ?m) WHERE {group}"
        return f"{form} WHERE {group}"

    def nearest(self) -> str:
        """A query for the nearest; ties are broken by what is shown, and unbound distances come first."""
        chance = self._chance
        distance = f"geof:distance(?w, {self._point()}, uom:metre)"
        limit = f"LIMIT {chance.choice([1, 3, 10, 200])}" + chance.choice(["", " OFFSET 2"])
        group = self._pattern("")
        extra = chance.choice(["", "FILTER(STRLEN(STR(?f)) > 21)", "OPTIONAL { ?f rdfs:label ?l }"])
        if chance.random() < 0.5:
            return f"SELECT ?d WHERE {{ {group} {extra} BIND({distance} AS ?d) }} ORDER BY ?d {limit}"
        return f"SELECT ({distance} AS ?d) WHERE {{ {group} {extra} }} ORDER BY {distance} {limit}"

    def join(self) -> str:
        """A query with a spatial join of two variables."""
        chance = self._chance
        two = chance.choice([f"geof:{chance.choice(_RELATIONS)}(?w, ?w2)", self._near("?w", "?w2")])
        more = chance.choice(["", "", f"FILTER({self._condition('?w2')})", "FILTER(?f != ?f2)"])
        patterns = f"{self._pattern('')} . {self._pattern('2')}"
        return f"SELECT {chance.choice(['*', '?f ?f2'])} WHERE {{ {patterns} FILTER({two}) {more} }}"

    def related(self) -> str:
        """A join of two features by a relation, in patterns of many kinds."""
        chance = self._chance
        sides = []
        for side in ("", "2"):
            link = chance.choice(["geo:hasGeometry"] * 3 + ["geo:hasDefaultGeometry"])
            if chance.random() < 0.1:
                link = "(geo:hasGeometry|geo:hasDefaultGeometry)"
            patterns = [
                chance.choice(
                    [
                        f"?f{side} {link}/geo:asWKT ?w{side}",
                        f"?f{side} {link}/geo:asWKT ?w{side}",
                        f"?f{side} {link} ?g{side} . ?g{side} geo:asWKT ?w{side}",
                        f"?f{side} {link} [ geo:asWKT ?w{side} ]",
                    ]
                )
            ]
            for more in ("a ex:Place", "a ex:Park", f"rdfs:label ?l{side}", 'rdfs:label "name 3"', "a [] "):
                if chance.random() < 0.3:
                    patterns.append(f"?f{side} {more}")
            chance.shuffle(patterns)
            sides.append(" . ".join(patterns))
        relation = chance.choice(["sfWithin", "sfContains", "sfIntersects", *_RELATIONS])
        condition = f"geof:{relation}(?w, ?w2)"
        if chance.random() < 0.3:
            condition = f"{condition} && ?f != ?f2"
        more = chance.choice(["", "", "FILTER(?f != ?f2)", "OPTIONAL { ?f rdfs:label ?name }", "?x ex:no ?y"])
        shown = chance.choice(["?f ?f2", "?f ?f2", "*", "?f ?w2", "DISTINCT ?f", "(COUNT(*) AS ?n)"])
        return f"SELECT {shown} WHERE {{ {' . '.join(sides)} FILTER({condition}) {more} }}"

    def nested(self) -> str:
        """A filter or a join that stands in a group of some kind, or over one, beside a pattern."""
        chance = self._chance
        left = [chance.choice([*_LEFT, self._pattern("")])]
        if chance.random() < 0.3:
            left.append(chance.choice(_LEFT))
        parts = [" . ".join(left) + " . ", self._nested(2), chance.choice(["", "", self._nested(1)])]
        if chance.random() < 0.2:
            parts.reverse()
        shown = chance.choice(["*", "?f", "?f ?w", "DISTINCT ?f", "(COUNT(*) AS ?n)"])
        return f"SELECT {shown} WHERE {{ {' '.join(parts)} }}"

    def _nested(self, depth: int) -> str:
        chance = self._chance
        n = chance.choice(["", "", "2"])
        w, pattern = f"?w{n}", self._pattern(n)
        condition = self._condition(w)
        if n:
            link = chance.choice(["", "", self._pattern("") + " . ", "?f a ex:Place . "])
            pattern = link + pattern
            relation = chance.choice([*_LIKELY, *_RELATIONS])
            condition = chance.choice([condition, f"geof:{relation}(?w, ?w2)", f"geof:{relation}(?w2, ?w)"])
        condition = chance.choice(
            [condition] * 4
            + [f"{condition} && ?f != ex:f3", f"BOUND(?f) && {condition}"]
            + [f"{condition} && ?f != ?f2"] * (3 if n else 0)
        )
        inner = f"{{ {pattern} FILTER({condition}) }}"
        if depth > 1 and chance.random() < 0.25:
            inner = inner[:-1] + self._nested(depth - 1) + " }"
        few = 'VALUES ?constant { "POLYGON((0.2 0.2, 0.7 0.2, 0.7 0.7, 0.2 0.7, 0.2 0.2))"^^geo:wktLiteral }'
        return chance.choice(
            [
                f"OPTIONAL {inner}",
                f"OPTIONAL {inner}",
                f"OPTIONAL {{ {pattern} }} FILTER({condition})",
                f"{few} OPTIONAL {{ {pattern} FILTER(geof:sfIntersects({w}, ?constant)) }}",
                f"FILTER EXISTS {inner}",
                f"FILTER EXISTS {inner}",
                f"FILTER NOT EXISTS {inner}",
                f"FILTER NOT EXISTS {inner}",
                f"FILTER(EXISTS {inner} && ?f != ex:f1)",
                f"FILTER(!EXISTS {inner})",
                f"FILTER(EXISTS {inner} || ?f = ex:f1)",
                f"MINUS {inner}",
                f"GRAPH ex:graph {inner}",
                f"GRAPH ?graph {inner}",
                f"GRAPH {chance.choice(['ex:graph', '?graph'])} {{ {pattern} }} FILTER({condition})",
                f"{inner} UNION {{ {self._pattern('')} }}",
                f"{{ SELECT ?f {w} WHERE {{ {pattern} }} }} FILTER({condition})",
                f"{{ SELECT * WHERE {{ {pattern} }} }} FILTER({condition})",
                f"{{ SELECT DISTINCT {w} WHERE {{ {pattern} }} }} FILTER({condition})",
                f"{{ SELECT ?f {w} WHERE {{ {pattern} }} ORDER BY {w} ?f LIMIT 7 }} FILTER({condition})",
                f"{{ SELECT ?f WHERE {inner} }}",
            ]
        )

    def _group(self, depth: int) -> str:
        chance = self._chance
        parts = [self._pattern("")]
        if chance.random() < 0.85:
            parts.append(f"FILTER({self._filter()})")
        if chance.random() < 0.3:
            parts.append(f"FILTER({self._condition('?w')})")
        for _ in range(chance.choice([0, 0, 1, 2]) if depth else 0):
            parts.append(self._element(depth - 1))
        if chance.random() < 0.5:
            chance.shuffle(parts)
        return "{ " + self._joined(parts) + " }"

    def _joined(self, parts: list[str]) -> str:
        """Triples end in a full stop before other triples; elsewhere it may stand or not."""
        done = []
        for part in parts:
            full_stop = part[0] in "?_" or self._chance.random() < 0.3
            done.append(part + (" . " if full_stop else " "))
        return "".join(done)

    def _unique(self) -> int:
        self._count += 1
        return self._count

    def _element(self, depth: int) -> str:
        chance = self._chance
        inner = self._group(depth)
        return chance.choice(
            [
                f"OPTIONAL {inner}",
                f"MINUS {inner}",
                f"FILTER NOT EXISTS {inner}",
                f"FILTER EXISTS {inner}",
                f"{inner} UNION {self._group(depth)}",
                inner,
                f"GRAPH ?graph {inner}",
                f"GRAPH ex:graph {inner}",
                f"{{ SELECT ?f ?w WHERE {inner} }}",
                f"{{ SELECT DISTINCT ?w WHERE {inner} }}",
                f"{{ SELECT ?w (COUNT(?f) AS ?many) WHERE {inner} GROUP BY ?w }}",
                "OPTIONAL { ?f rdfs:label ?label }",
                "?f rdfs:label ?name",
                f'BIND("x" AS ?bound{self._unique()})',
                "VALUES ?f { ex:f1 ex:f2 ex:f9 ex:f18 ex:odd0 }",
                f"_:b{self._unique()} a ex:Park ; rdfs:label ?name",
            ]
        )

    def _pattern(self, n: str) -> str:
        chance, m = self._chance, self._unique()
        link = chance.choice(
            ["geo:hasGeometry", "geo:hasDefaultGeometry", "(geo:hasGeometry|geo:hasDefaultGeometry)"]
        )
        form = chance.choice(["geo:asWKT"] * 5 + ["geo:asGeoJSON"])
        return chance.choice(
            [
                f"?f{n} {link} ?g{n} . ?g{n} {form} ?w{n}",
                f"?f{n} {link}/{form} ?w{n}",
                f"?f{n} a ex:Place ; {link} ?g{n} . ?g{n} {form} ?w{n}",
                f"?f{n} {link} [ {form} ?w{n} ]",
                f"?f{n} a ?t{n} . ?f{n} {link} _:n{m} . _:n{m} {form} ?w{n}",
                f"?f{n} {link}/{form} ?w{n} , ?v{n} ; rdfs:label ?l{n}",
                f"?g{n} {form} ?w{n} . ?f{n} {link} ?g{n}",
            ]
        )

    def _filter(self) -> str:
        chance = self._chance
        condition = self._condition("?w")
        return chance.choice(
            [
                condition,
                condition,
                f"{condition} && STRLEN(STR(?f)) > 10",
                f"isIRI(?f) && ({condition}) && {self._condition('?w')}",
                f"{condition} || {self._condition('?w')}",
                f"!{condition}" if condition.startswith("geof:") else condition,
                f"({condition}) = true",
                "BOUND(?w)",
            ]
        )

    def _condition(self, variable: str) -> str:
        chance = self._chance
        if chance.random() < 0.25:
            return self._near(variable, self._point())
        name = chance.choice(_LIKELY if chance.random() < 0.6 else _RELATIONS)
        constant = self._constant()
        if chance.random() < 0.1:
            variable = chance.choice(
                [
                    f"geof:envelope({variable})",
                    f"geof:buffer({variable}, 2000, uom:metre)",
                    f"geof:transform({variable}, <http://www.opengis.net/def/crs/EPSG/0/4326>)",
                ]
            )
        if chance.random() < 0.1:
            pattern = chance.choice(["T*F**F***", "FF*FF****", "T********"])
            return f'geof:relate({variable}, {constant}, "{pattern}")'
        sides = [variable, constant]
        if chance.random() < 0.4:
            sides.reverse()
        return f"geof:{name}({', '.join(sides)})"

    def _near(self, left: str, right: str) -> str:
        limit = self._chance.choice(["0", "3000", "2e4", "30 * 1000", "-5"])
        call = self._chance.choice(
            [f"geof:distance({left}, {right}, uom:metre)", f"geof:metricDistance({right}, {left})"]
        )
        return self._chance.choice([f"{call} < {limit}", f"{limit} >= {call}", f"{call} > {limit}"])

    def _constant(self) -> str:
        chance = self._chance
        x, y = round(chance.random(), 2), round(chance.random(), 2)
        size = chance.choice([0.1, 0.3, 0.7])
        corners = f"{x} {y}, {x + size:.2f} {y}, {x + size:.2f} {y + size:.2f}, {x} {y + size:.2f}, {x} {y}"
        turned = f"{y} {x}, {y} {x + size:.2f}, {y + size:.2f} {x + size:.2f}, {y + size:.2f} {x}, {y} {x}"
        return chance.choice(
            [
                f'"POLYGON(({corners}))"^^geo:wktLiteral',
                f'"POLYGON(({corners}))"^^geo:wktLiteral',
                f'"<http://www.opengis.net/def/crs/EPSG/0/4326> POLYGON(({turned}))"^^geo:wktLiteral',
                f"geof:buffer({self._point()}, 20000, uom:metre)",
                f'geof:envelope("LINESTRING({x} {y}, 0.9 0.9)"^^geo:wktLiteral)',
                f'STRDT("POLYGON(({corners}))", geo:wktLiteral)',
                self._point(),
                '"POINT EMPTY"^^geo:wktLiteral',
                '"POLYGON((broken"^^geo:wktLiteral',
            ]
        )

    def _point(self) -> str:
        chance = self._chance
        return f'"POINT({round(chance.random(), 2)} {round(chance.random(), 2)})"^^geo:wktLiteral'
