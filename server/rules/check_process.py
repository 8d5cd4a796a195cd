"""Checks edited rules in a process of its own: files may hold what takes without end, or overflows a stack.

The process is forked from one that has imported this module, and with it what a check needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import shapes.authoring.linting
import shapes.engine.compiled.compiled_engine
import shapes.engine.reference.pyshacl_engine
import shapes.rules  # noqa: F401
from ontology import Schema
from server.rules.checking import LINTED, Examined, Folders, Linted, examine


def examine_apart(
    folders: Folders, known: Schema, linted: Linted | None
) -> Iterator[tuple[Examined, Linted | None]]:
    """What `examine` finds, and of the ontology alone, for the next time; `linted` is that of `known`.

    Without the schema where it is `known`, which the caller has.
    """
    if linted is not None:
        LINTED[known] = linted
    examined = examine(folders, known)
    found = None if examined.schema is None else LINTED.get(examined.schema)
    yield replace(examined, schema=None) if examined.schema is known else examined, found
