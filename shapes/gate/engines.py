"""The engine that a gate judges with, made when it is first needed."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Literal

from shapes.gate.affected import Pairs
from shapes.gate.judging import Engine, Found
from shapes.loading import ShapesFiles
from sparql.model.source import TripleSource

if TYPE_CHECKING:
    from rdflib.term import Node

    from shapes.engine.compiled.compiled_engine import CompiledEngine
    from shapes.engine.reference.pyshacl_engine import PyshaclEngine

EngineName = Literal["compiled", "pyshacl"]


class Engines:
    """The two engines, made on first use, and which of them is in use."""

    def __init__(self, files: ShapesFiles, nodes: Mapping[str, Node], name: EngineName) -> None:
        self.files = files
        self._nodes = nodes
        self._making = Lock()
        self._made: tuple[CompiledEngine, PyshaclEngine] | None = None
        self.name = name
        self.languages: tuple[str, ...] = ("en",)

    def made(self) -> tuple[CompiledEngine, PyshaclEngine]:
        """Both engines. Raises `ShapeMalformed`."""
        # This imports pySHACL, which takes longer than everything else that a start needs of this package.
        from shapes.engine.compiled.compiled_engine import CompiledEngine
        from shapes.engine.reference.pyshacl_engine import PyshaclEngine

        with self._making:
            if self._made is None:
                reference = PyshaclEngine(self.files.graph, self._nodes, languages=lambda: self.languages)
                self._made = CompiledEngine(self.files.graph, self._nodes, reference), reference
            return self._made

    def check(self, source: TripleSource, pairs: Pairs) -> Found:
        """Violations of these pairs."""
        return self._in_use().check(source, pairs)

    def breaks(self, after: TripleSource, before: TripleSource, pairs: Pairs) -> bool | None:
        """Whether a pair has a blocking violation that is new; None where only `check` can decide."""
        return self._in_use().breaks(after, before, pairs)

    def _in_use(self) -> Engine:
        compiled, reference = self._made or self.made()
        return compiled if self.name == "compiled" else reference
