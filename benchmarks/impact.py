"""What an edit of the shapes file costs to measure: python -m benchmarks.impact [--sizes ...].

For each size a store of that many triples is filled with made-up museums. Then four edits of the shapes are
measured as `urbankg impact` does: one shape's words change, one new shape that all conform to, one that every
museum breaks, and one subclass axiom. Prints seconds, and the ratio to validating everything with the same
engine, which is what one would do without knowing what an edit touches.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.gate import filled
from ontology import Schema
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.authoring.impact import measure_impact
from shapes.authoring.impact_results import ComparedRules
from shapes.gate.opening import gate_of
from shapes.loading import load_shapes
from sparql.storage.embedded_store import EmbeddedStore

HEAD = """
@prefix made: <http://example.org/made#> .
made:{name} a sh:PropertyShape ; sh:targetClass urban:Museum ; sh:path rdfs:label ; sh:maxLength {length} .
"""


def rules(shapes: bytes | None = None, ontology: bytes | None = None) -> ComparedRules:
    """The shipped rules, with this urban.ttl in place of theirs."""
    edits = None if shapes is None else {"urban.ttl": shapes}
    schema = Schema.load(SHIPPED_ONTOLOGY, None if ontology is None else {"urban.ttl": ontology})
    files = load_shapes(SHIPPED_SHAPES, edits)
    return ComparedRules(schema, files, gate_of(files))


def edits() -> dict[str, ComparedRules]:
    """The edited rules by name."""
    shapes = Path(SHIPPED_SHAPES / "urban.ttl").read_text(encoding="utf-8")
    ontology = Path(SHIPPED_ONTOLOGY / "urban.ttl").read_text(encoding="utf-8")
    words = shapes.replace("keep the newest.", "keep the newest one.")
    axiom = "\nurban:Museum rdfs:subClassOf urban:Landmark .\n"
    return {
        "words of one shape": rules(words.encode()),
        "a shape all conform to": rules((shapes + HEAD.format(name="Long", length=500)).encode()),
        "a shape all break": rules((shapes + HEAD.format(name="Short", length=3)).encode()),
        "a subclass axiom": rules(ontology=(ontology + axiom).encode()),
    }


def measure(store: EmbeddedStore, before: ComparedRules, size: int) -> None:
    """Print a line for each edit."""
    started = time.perf_counter()
    before.gate.report(store)
    whole = time.perf_counter() - started
    for name, after in edits().items():
        started = time.perf_counter()
        impact = measure_impact(store, before, after)
        seconds = time.perf_counter() - started
        exact = "" if all(shape.is_exact for shape in impact.shapes) else "+"
        failing = f"{len(impact.failing)}{exact}"
        ratio = whole / seconds
        print(f"{size:9}  {name:24} {seconds:8.2f} {failing:>8} {whole:9.1f} {ratio:6.0f}x", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    before = rules()
    print(f"{'triples':>9}  {'edit':24} {'seconds':>8} {'failing':>8} {'whole, s':>9} {'ratio':>7}")
    for size in parser.parse_args().sizes:
        with TemporaryDirectory(prefix="impact-") as folder:
            measure(filled(before.schema, size, Path(folder)), before, size)


if __name__ == "__main__":
    main()
