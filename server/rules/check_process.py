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
from server.rules.checking import Examined, Folders, examine


def examine_apart(folders: Folders, known: Schema) -> Iterator[Examined]:
    """What `examine` finds; without the schema where it is `known`, which the caller has."""
    examined = examine(folders, known)
    yield replace(examined, schema=None) if examined.schema is known else examined
