"""Checks edited rules in a process of its own: files may hold what takes without end, or overflows a stack.

The process is forked from one that has imported this module, and with it what a check needs.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

from rdflib.plugins.sparql.parser import parseQuery

import shapes.authoring.linting
import shapes.engine.compiled_engine
import shapes.engine.reference
import shapes.gate.opening  # noqa: F401
from ontology import Schema
from server.rules.checking import LINTED, Examined, Folders, Linted, examine

# The first parse puts the grammar of SPARQL together, which takes longer than the queries of most shapes.
parseQuery("ASK { ?s ?p ?o }")


def examine_apart(
    folders: Folders, known: Schema, linted: Linted | None
) -> Iterator[tuple[Examined, Linted | None]]:
    """What `examine` finds, and of the ontology alone, for the next time; `linted` is that of `known`.

    Without the schema where it is `known`, which the caller has.
    """
    # The process ends with this and has a limit of memory: garbage is not worth the searches for it.
    gc.disable()
    if linted is not None:
        LINTED[known] = linted
    examined = examine(folders, known)
    found = None if examined.schema is None else LINTED.get(examined.schema)
    yield replace(examined, schema=None) if examined.schema is known else examined, found
