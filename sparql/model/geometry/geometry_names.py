"""Geometry nodes and their literals as strings, which take a fifth of the memory of terms.

A node is a string: an IRI as it is, a blank node as `_:name`. So is a wktLiteral; other literals stay terms.
"""

from __future__ import annotations

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat

from geo.vocabulary import WKT_LITERAL
from sparql.model.source import Term

Node = NamedNode | BlankNode
Text = str | Literal
"""A literal of a geometry: the text of a wktLiteral, or any other literal as a term."""


def text_of(node: Node) -> str:
    """A node as a string."""
    if isinstance(node, BlankNode):
        return f"_:{node.value}"
    value: str = node.value
    # No valid IRI begins like this, but unchecked loads may hold one that does.
    return f"<{value}>" if value.startswith(("_", "<")) else value


def node_of(text: str) -> Node:
    """The node for a string."""
    if text.startswith("_:"):
        return BlankNode(text[2:])
    value = text[1:-1] if text.startswith("<") else text
    try:
        return NamedNode(value)
    except ValueError:
        # From an unchecked load.
        found = term_in(f"<{value}>")
        assert isinstance(found, NamedNode)
        return found


def literal_text(literal: Literal) -> Text:
    """A literal in its compact form."""
    return literal.value if literal.datatype == WKT_LITERAL else literal


def literal_of(text: Text) -> Literal:
    """The literal for a compact form."""
    return Literal(text, datatype=WKT_LITERAL) if isinstance(text, str) else text


def term_in(turtle: str) -> Term:
    """Parse a term in Turtle syntax without checking it."""
    (quad,) = pyoxigraph.parse(f"<urn:s> <urn:p> {turtle} .", format=RdfFormat.TURTLE, lenient=True)
    found: Term = quad.object
    return found
