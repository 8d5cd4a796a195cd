"""Small diagrams as SVG: a class between its superclasses and subclasses, a property between its ends."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pyoxigraph import NamedNode

from server.documentation.markup import Links

__all__ = ["class_diagram", "property_diagram"]

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
