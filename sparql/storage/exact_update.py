"""One atomic step that removes and adds exactly the given quads, stored blank nodes included."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from sparql.model.source import Term

_TERM = NamedNode("urn:x-urbankg:term")
_SUBJECT = "<urn:s> <urn:p> "


def _term(written: Term) -> Term | None:
    """The term encoded in a literal of our own datatype; any other term is returned unchanged."""
    if not isinstance(written, Literal) or written.datatype != _TERM:
        return written
    if written.value.startswith("_:"):
        return BlankNode(written.value[2:])
    quads = list(parse(f"{_SUBJECT}{written.value} .", format=RdfFormat.N_TRIPLES))
    return quads[0].object if len(quads) == 1 else None


FUNCTIONS: Final[dict[NamedNode, Callable[..., Term | None]]] = {_TERM: _term}
"""The functions that the update's text calls."""


def write_exactly(
    graph: pyoxigraph.Store,
    additions: Collection[Quad],
    removals: Collection[Quad] = (),
    created: Collection[NamedNode] = (),
    dropped: Collection[NamedNode] = (),
) -> None:
    """Write quads, and create or drop named graphs, in one transaction of the engine. Raises OSError.

    A dropped graph loses all its quads.
    """
    if created:
        # Additions create their graph, which is much faster in the engine.
        made = {quad.graph_name for quad in additions}
        created = [one for one in created if one not in made]
    if not (removals or created or dropped):
        graph.extend(additions)
        return
    left = [quad for quad in removals if quad.graph_name not in dropped]
    text = " ;\n".join(
        [
            *(f"DROP SILENT GRAPH {one}" for one in dropped),
            *(f"CREATE SILENT GRAPH {one}" for one in created),
            update_text(additions, left),
        ]
    )
    graph.update(text, custom_functions=FUNCTIONS)


def update_text(additions: Iterable[Quad], removals: Iterable[Quad]) -> str:
    """One SPARQL update that removes and adds exactly these quads: run the text with `FUNCTIONS`.

    SPARQL cannot name a stored blank node. Quads with blank nodes are rows of VALUES, where each such term is
    written as a literal that a custom function decodes: the engine takes thousands of rows easily, and
    overflows its stack at thousands of any other construct.
    """
    parts = []
    for verb, quads in (("DELETE", removals), ("INSERT", additions)):
        plain: list[Quad] = []
        default: list[Quad] = []
        named: list[Quad] = []
        for quad in quads:
            if not _has_blank(quad):
                plain.append(quad)
            elif isinstance(quad.graph_name, DefaultGraph):
                default.append(quad)
            else:
                named.append(quad)
        if plain:
            parts.append(f"{verb} DATA {{\n" + "\n".join(_data(quad) for quad in plain) + "\n}")
        if default:
            parts.append(_through_rows(verb, "?s ?p ?o", ("s", "p", "o"), default))
        if named:
            parts.append(_through_rows(verb, "GRAPH ?g { ?s ?p ?o }", ("s", "p", "o", "g"), named))
    return " ;\n".join(parts)


def _through_rows(verb: str, template: str, names: Sequence[str], quads: Iterable[Quad]) -> str:
    head = " ".join(f"?_{name}" for name in names)
    binds = " ".join(f"BIND({_TERM}(?_{name}) AS ?{name})" for name in names)
    rows = "\n".join(
        "(" + " ".join(_written(term) for term in tuple(quad)[: len(names)]) + ")" for quad in quads
    )
    return f"{verb} {{ {template} }} WHERE {{ VALUES ({head}) {{\n{rows}\n}} {binds} }}"


def _has_blank(quad: Quad) -> bool:
    return any(_is_blank(term) for term in (quad.subject, quad.object, quad.graph_name))


def _is_blank(term: object) -> bool:
    if isinstance(term, Triple):
        return _is_blank(term.subject) or _is_blank(term.object)
    return isinstance(term, BlankNode)


def _written(term: Term | DefaultGraph) -> str:
    return str(Literal(_syntax(term), datatype=_TERM)) if _is_blank(term) else _syntax(term)


def _syntax(term: Term | DefaultGraph) -> str:
    """A term as N-Triples writes it (RDF 1.2)."""
    if isinstance(term, Triple):
        return f"<<( {' '.join(_syntax(part) for part in term)} )>>"
    return str(term)


def _data(quad: Quad) -> str:
    triple = " ".join(_syntax(term) for term in quad.triple)
    if isinstance(quad.graph_name, DefaultGraph):
        return f"{triple} ."
    return f"GRAPH {quad.graph_name} {{ {triple} }}"
