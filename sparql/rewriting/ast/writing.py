"""Triple patterns and paths as SPARQL text."""

from __future__ import annotations

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.rewriting.ast import nodes as n


def term_text(term: n.Term) -> str:
    """A term of a pattern."""
    if isinstance(term, Variable):
        return f"?{term.value}"
    if isinstance(term, NamedNode | Literal | BlankNode):
        return str(term)
    raise TypeError(f"{term} cannot stand in a pattern")


def path_text(path: n.Path) -> str:
    """A path, every operator in parentheses but the outermost."""
    if isinstance(path, n.Link):
        return str(path.iri)
    parts = [part_text(part) for part in path.parts]
    if path.operator in ("/", "|"):
        return path.operator.join(parts)
    return path.operator + parts[0] if path.operator in ("^", "!") else parts[0] + path.operator


def part_text(path: n.Path) -> str:
    """A path as part of another."""
    return path_text(path) if isinstance(path, n.Link) else f"({path_text(path)})"


def triple_text(triple: n.TriplePattern) -> str:
    """A triple pattern without its full stop."""
    verb = triple.verb
    written = term_text(verb) if isinstance(verb, Variable) else path_text(verb)
    return f"{term_text(triple.subject)} {written} {term_text(triple.object)}"
