"""Writes HTML safely (texts are escaped, only http(s) addresses become links), and small diagrams as SVG."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final
from urllib.parse import quote

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from ontology.labels import local_name

_STYLE: Final = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
h1,h2,h3{line-height:1.25}h3{margin:2rem 0 .3rem;border-top:1px solid #ddd;padding-top:1rem}
a{color:#0b5394}dl{display:grid;grid-template-columns:10rem 1fr;gap:.2rem 1rem;margin:.5rem 0}
dt{color:#555;overflow-wrap:anywhere}dd{margin:0}
code,pre{font:.85rem/1.4 ui-monospace,monospace;background:#f5f5f5}
code{overflow-wrap:anywhere}pre{padding:.6rem;overflow-x:auto}.iri{color:#555}.tree{padding-left:1.2rem}
svg{max-width:100%;height:auto;margin:.5rem 0}svg text{font:13px system-ui,sans-serif;fill:#222}
svg rect{fill:#f2f6fb;stroke:#7a9cc0}svg .own rect{fill:#dbe8f6;stroke:#0b5394}svg path{stroke:#777;fill:none}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}a{color:#8ab8ec}
code,pre{background:#2a2a2a}dt,.iri{color:#aaa}h3{border-color:#444}
svg text{fill:#ddd}svg rect{fill:#26303a}svg .own rect{fill:#2f4358}}
@media(max-width:40rem){dl{grid-template-columns:1fr}}
"""
_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of a page: it has no script, and loads nothing."""
_WEB: Final = re.compile(r"https?://[^\s<>\"]+")


class Links:
    """Turns terms into links: to their section where the page has one, else to their IRI.

    `anchors` are the ids of the sections: the part of each IRI after its last `#` or `/`, which browsers look
    for under a hash IRI; of two terms with one such part the later one gets a number.
    """

    def __init__(
        self, terms: Iterable[NamedNode], labels: Mapping[NamedNode, str], prefixes: Mapping[str, str]
    ) -> None:
        self.anchors: dict[NamedNode, str] = {}
        self._labels = labels
        self._prefixes = sorted(prefixes.items(), key=lambda pair: -len(pair[1]))
        used: dict[str, int] = {}
        for iri in terms:
            name = local_name(iri.value)
            used[name] = used.get(name, 0) + 1
            self.anchors[iri] = name if used[name] == 1 else f"{name}-{used[name]}"

    def name(self, iri: NamedNode) -> str:
        """The label of a term of the page, else its prefixed name, else its IRI."""
        if iri in self.anchors and iri in self._labels:
            return self._labels[iri]
        return self.prefixed(iri)

    def prefixed(self, iri: NamedNode) -> str:
        """The IRI with a prefix of the files, where one fits."""
        for prefix, namespace in self._prefixes:
            if namespace and iri.value.startswith(namespace) and "/" not in iri.value[len(namespace) :]:
                return f"{prefix}:{iri.value[len(namespace) :]}"
        return iri.value

    def address(self, iri: NamedNode) -> str | None:
        """Where a link to the term leads; None where there is nothing to open."""
        if iri in self.anchors:
            return "#" + quote(self.anchors[iri])
        return iri.value if _WEB.fullmatch(iri.value) else None

    def link(self, iri: NamedNode) -> str:
        """The term as a link with its name."""
        address, name = self.address(iri), escape(self.name(iri))
        return f'<a href="{escape(address)}">{name}</a>' if address else f"<code>{name}</code>"

    def value(self, node: NamedNode | BlankNode | Literal | Triple) -> str:
        """Any value of a statement."""
        if isinstance(node, NamedNode):
            return self.link(node)
        return text(node.value) if isinstance(node, Literal) else ""


def text(words: str) -> str:
    """A text, with the addresses in it as links."""
    parts, end = [], 0
    for found in _WEB.finditer(words):
        address = escape(found[0])
        parts += [escape(words[end : found.start()]), f'<a href="{address}">{address}</a>']
        end = found.end()
    return "".join((*parts, escape(words[end:])))


def code(words: str) -> str:
    """A block of source text."""
    return f"<pre>{escape(words.strip())}</pre>"


def listed(parts: Iterable[str]) -> str:
    """Parts that are HTML already, with commas."""
    return ", ".join(part for part in parts if part)


def rows(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of names and values, without those that have none."""
    inside = "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in pairs if value)
    return f"<dl>{inside}</dl>" if inside else ""


def section(anchor: str, title: str, *content: str) -> str:
    """A section of one term, with its anchor."""
    return f'<h3 id="{escape(anchor)}">{escape(title)}</h3>\n' + "\n".join(part for part in content if part)


def page(title: str, *content: str) -> str:
    """A whole page."""
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>"
    )
    return "\n".join((head, *(part for part in content if part), "</body></html>\n"))


_HEIGHT, _GAP, _ROW, _WIDEST = 26, 14, 62, 760
_MOST = 12
Box = tuple[NamedNode | None, str]


def class_diagram(
    links: Links, own: NamedNode, above: Sequence[NamedNode], below: Sequence[NamedNode]
) -> str:
    """A class with its direct superclasses above it and its direct subclasses below; nothing without both."""
    if not above and not below:
        return ""
    layers = _lines(_boxes(links, above))
    level = len(layers)
    layers += [[(own, links.name(own))], *_lines(_boxes(links, below))]
    width = max(_width(layer) for layer in layers)
    middle = width / 2
    drawn, edges = [], []
    for number, layer in enumerate(layers):
        x, y = (width - _width(layer)) / 2, number * _ROW + 1
        for box in layer:
            size = _size(box[1])
            drawn.append(_box(links, box, x, y, own=number == level))
            if number < level:
                edges.append(f"M{x + size / 2} {y + _HEIGHT}L{middle} {level * _ROW + 1}")
            elif number > level:
                edges.append(f"M{middle} {level * _ROW + 1 + _HEIGHT}L{x + size / 2} {y}")
            x += size + _GAP
    return _svg(f"Superclasses and subclasses of {links.name(own)}", width, len(layers), edges, drawn)


def property_diagram(
    links: Links, own: NamedNode, domains: Sequence[NamedNode], ranges: Sequence[NamedNode]
) -> str:
    """A property as an arrow from its domains to its ranges; nothing where one of them is missing."""
    if not domains or not ranges:
        return ""
    left, right = _boxes(links, domains), _boxes(links, ranges)
    name: Box = (own, links.name(own))
    wide = max(_size(box[1]) for box in left)
    second = wide + 3 * _GAP
    third = second + _size(name[1]) + 3 * _GAP
    width = third + max(_size(box[1]) for box in right)
    count = max(len(left), len(right))
    step = _HEIGHT + 8
    middle = (count - 1) * step / 2 + 1
    drawn, edges = [_box(links, name, second, middle, own=True)], []
    for boxes, start in ((left, 0.0), (right, float(third))):
        for number, box in enumerate(boxes):
            y = 1 + number * step + (count - len(boxes)) * step / 2
            size = _size(box[1])
            drawn.append(_box(links, box, start if boxes is right else wide - size, y))
            center = middle + _HEIGHT / 2
            if boxes is left:
                edges.append(f"M{wide} {y + _HEIGHT / 2}L{second} {center}")
            else:
                edges.append(f"M{second + _size(name[1])} {center}L{third} {y + _HEIGHT / 2}")
    rows = ((count - 1) * step + _HEIGHT) / _ROW
    return _svg(f"Domain and range of {links.name(own)}", width, rows, edges, drawn)


def _boxes(links: Links, terms: Sequence[NamedNode]) -> list[Box]:
    shown: list[Box] = [(iri, links.name(iri)) for iri in terms[:_MOST]]
    return [*shown, (None, f"{len(terms) - _MOST} more")] if len(terms) > _MOST else shown


def _lines(boxes: Sequence[Box]) -> list[list[Box]]:
    """Boxes in rows that are not too wide."""
    lines: list[list[Box]] = []
    for box in boxes:
        if lines and _width([*lines[-1], box]) <= _WIDEST:
            lines[-1].append(box)
        else:
            lines.append([box])
    return lines


def _size(name: str) -> int:
    return 20 + round(7.2 * len(name))


def _width(layer: Sequence[Box]) -> int:
    return sum(_size(name) for _, name in layer) + _GAP * (len(layer) - 1) + 2


def _box(links: Links, box: Box, x: float, y: float, *, own: bool = False) -> str:
    iri, name = box
    size = _size(name)
    inside = (
        f'<rect x="{x + 1}" y="{y}" width="{size}" height="{_HEIGHT}" rx="4"/>'
        f'<text x="{x + 1 + size / 2}" y="{y + 17}" text-anchor="middle">{escape(name)}</text>'
    )
    address = links.address(iri) if iri is not None and not own else None
    drawn = f'<a href="{escape(address)}">{inside}</a>' if address else inside
    return f'<g class="own">{drawn}</g>' if own else drawn


def _svg(title: str, width: float, rows: float, edges: Sequence[str], drawn: Sequence[str]) -> str:
    height = rows * _ROW + 2 if rows != int(rows) else (int(rows) - 1) * _ROW + _HEIGHT + 2
    return (
        f'<svg role="img" aria-label="{escape(title)}" width="{width + 2}" height="{height}" '
        f'viewBox="0 0 {width + 2} {height}"><path d="{"".join(edges)}"/>{"".join(drawn)}</svg>'
    )
