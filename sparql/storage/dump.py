"""Dumps: a graph, or the default graph with clients' graphs, written as RDF in one stream.

Run as a program (`python -m sparql.storage.dump CHECKPOINT FORMAT PREFIXES [GRAPH]`, the prefixes as a JSON
object) it dumps a checkpoint to standard output: the server does that in a separate process, so that a dump
takes neither its time nor its memory.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, RdfFormat, Triple

from sparql.model.errors import TripleTermUnwritable
from sparql.model.vocabulary import DEFAULT, SYSTEM_GRAPHS
from sparql.protocol.formats import FOR_TRIPLE_TERMS, GRAPH_FORMATS, WITH_PREFIXES, Format, choose_by_name

_PIECE = 64 * 1024
TRIPLE_TERM_STATUS = 3
"""The exit status for a graph with a triple term that the format cannot hold; nothing was written."""


def holds_graph_names(format_: Format) -> bool:
    """Whether a format can name the graph of a triple."""
    return isinstance(format_.engine, RdfFormat) and format_.engine.supports_datasets


def write_dump(
    graph: pyoxigraph.Store,
    output: IO[bytes],
    format_: Format,
    name: NamedNode | None = None,
    prefixes: Mapping[str, str] | None = None,
) -> None:
    """Write one named graph, or (None) the default graph and, in a format with graph names, clients' graphs.

    System graphs are written only when named. Memory use is constant. `prefixes` shorten Turtle and TriG.
    """
    engine = format_.engine
    assert isinstance(engine, RdfFormat)
    content: Iterator[Quad] | Iterator[Triple]
    written = [name] if name is not None else _clients(graph) if holds_graph_names(format_) else [DEFAULT]
    check_triple_terms(graph, format_, written)
    if name is not None:
        content = (quad.triple for quad in graph.quads_for_pattern(None, None, None, name))
    elif holds_graph_names(format_):
        content = _of_clients(graph)
    else:
        content = (quad.triple for quad in graph.quads_for_pattern(None, None, None, DEFAULT))
    shortened = dict(prefixes) if prefixes and format_.name in WITH_PREFIXES else None
    pyoxigraph.serialize(content, output, format=engine, prefixes=shortened)


def check_triple_terms(
    graph: pyoxigraph.Store, format_: Format, names: Sequence[NamedNode | BlankNode | DefaultGraph]
) -> None:
    """Raises TripleTermUnwritable where one of these graphs holds a triple term and the format cannot."""
    if not format_.holds_triple_terms and graph.query(
        "ASK { ?s ?p ?o FILTER (isTriple(?o)) }", default_graph=list(names)
    ):
        raise triple_term_unwritable(format_)


def triple_term_unwritable(format_: Format) -> TripleTermUnwritable:
    """The error for an answer with a triple term, with the formats that can hold it."""
    return TripleTermUnwritable(format_.media_type, [known.media_type for known in FOR_TRIPLE_TERMS])


def _of_clients(graph: pyoxigraph.Store) -> Iterator[Quad]:
    return chain.from_iterable(graph.quads_for_pattern(None, None, None, name) for name in _clients(graph))


def _clients(graph: pyoxigraph.Store) -> list[NamedNode | BlankNode | DefaultGraph]:
    return [DefaultGraph(), *(name for name in graph.named_graphs() if name not in SYSTEM_GRAPHS)]


def main(arguments: list[str]) -> int:
    """Dump the checkpoint in the folder given to standard output."""
    folder, format_name, prefixes, *names = arguments
    format_ = choose_by_name(format_name, GRAPH_FORMATS)
    name = NamedNode(names[0]) if names else None
    try:
        with open(sys.stdout.fileno(), "wb", buffering=_PIECE, closefd=False) as output:
            write_dump(
                pyoxigraph.Store.read_only(str(Path(folder))), output, format_, name, json.loads(prefixes)
            )
    except BrokenPipeError:
        return 1
    except TripleTermUnwritable:
        return TRIPLE_TERM_STATUS
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
