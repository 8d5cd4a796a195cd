"""The digest of a shape changes with all that its verdicts depend on, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import rdflib

from shapes.authoring.impact_results import shape_digests
from shapes.loading import shapes_of

TURTLE = """@prefix : <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
:S a sh:NodeShape ; sh:targetClass :Park ; :longest 5 ; sh:property [ sh:path :in ; sh:node :T ] .
:T a sh:NodeShape ; sh:nodeKind sh:IRI .
:Other a sh:NodeShape ; sh:targetClass :Road ; sh:nodeKind sh:IRI .
:Longest a sh:ConstraintComponent ; sh:parameter :limit ; sh:validator :check .
:limit a sh:Parameter ; sh:path :longest .
:check a sh:SPARQLAskValidator ; sh:message "too long" .
:check sh:ask "ASK { FILTER (STRLEN(?value) <= $longest) }" .
"""


def digests(turtle: str) -> tuple[str, str]:
    graph = shapes_of([(Path("s.ttl"), turtle.encode())]).graph
    nodes = [rdflib.URIRef("http://example.org/" + name) for name in ("S", "Other")]
    found = shape_digests(graph, nodes)
    return found[nodes[0]], found[nodes[1]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (":longest 5", ":longest 6"),
        ("sh:nodeKind sh:IRI .\n:Other", "sh:nodeKind sh:Literal .\n:Other"),
        ("sh:path :in", "sh:path :on"),
        ("<= $longest", "< $longest"),
        ("too long", "much too long"),
        ("a sh:Parameter", "a sh:Parameter ; sh:optional false"),
    ],
)
def test_a_change_of_what_a_shape_judges_by_changes_its_digest_alone(old: str, new: str) -> None:
    assert old in TURTLE
    before, after = digests(TURTLE), digests(TURTLE.replace(old, new))
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_another_order_and_other_shapes_change_nothing() -> None:
    head, *rest = TURTLE.splitlines()
    assert digests(TURTLE) == digests("\n".join([head, *reversed(rest), ":U a sh:NodeShape ."]))
