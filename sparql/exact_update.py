"""One SPARQL update that removes and adds exactly the given quads, stored blank nodes included."""

from collections.abc import Callable, Iterable
from typing import Final

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from sparql.source import Term

_BLANK_NODE = NamedNode("urn:x-urbankg:blank-node")


def _blank_node(identifier: Term) -> BlankNode:
    return BlankNode(identifier.value if isinstance(identifier, Literal) else "b")


FUNCTIONS: Final[dict[NamedNode, Callable[..., Term | None]]] = {_BLANK_NODE: _blank_node}
"""What the update's text calls."""


def update_text(additions: Iterable[Quad], removals: Iterable[Quad]) -> str:
    """One SPARQL update that removes and adds exactly these quads.

    SPARQL cannot name a stored blank node, so quads with blank nodes go through variables bound by
    a custom function that returns the node of that identifier: run the text with `FUNCTIONS`.
    """
    variables: dict[str, str] = {}
    plain: dict[bool, list[str]] = {True: [], False: []}
    bound: dict[bool, list[str]] = {True: [], False: []}
    for adding, quads in ((False, removals), (True, additions)):
        for quad in quads:
            has_blank = _has_blank(quad)
            target = bound if has_blank else plain
            target[adding].append(_pattern(quad, variables) if has_blank else _pattern(quad, {}))
    parts = []
    if plain[False]:
        parts.append("DELETE DATA {\n" + "\n".join(plain[False]) + "\n}")
    if bound[False] or bound[True]:
        binds = "\n".join(
            f'BIND({_BLANK_NODE}("{identifier}") AS {name})' for identifier, name in variables.items()
        )
        parts.append(
            "DELETE {\n" + "\n".join(bound[False]) + "\n}\nINSERT {\n" + "\n".join(bound[True]) + "\n}\n"
            "WHERE {\n" + binds + "\n}"
        )
    if plain[True]:
        parts.append("INSERT DATA {\n" + "\n".join(plain[True]) + "\n}")
    return " ;\n".join(parts)


def _has_blank(quad: Quad) -> bool:
    return any(
        isinstance(term, BlankNode) or (isinstance(term, Triple) and _has_blank_term(term))
        for term in (quad.subject, quad.object, quad.graph_name)
    )


def _has_blank_term(triple: Triple) -> bool:
    return any(
        isinstance(term, BlankNode) or (isinstance(term, Triple) and _has_blank_term(term))
        for term in (triple.subject, triple.object)
    )


def _pattern(quad: Quad, variables: dict[str, str]) -> str:
    triple = " ".join(_text(term, variables) for term in (quad.subject, quad.predicate, quad.object))
    if isinstance(quad.graph_name, DefaultGraph):
        return f"{triple} ."
    return f"GRAPH {_text(quad.graph_name, variables)} {{ {triple} }}"


def _text(term: Term, variables: dict[str, str]) -> str:
    if isinstance(term, BlankNode):
        return variables.setdefault(term.value, f"?b{len(variables)}")
    if isinstance(term, Triple):
        inner = " ".join(_text(part, variables) for part in (term.subject, term.predicate, term.object))
        return f"<<( {inner} )>>"
    return str(term)
