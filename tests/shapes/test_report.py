"""Verdicts as SHACL validation reports."""

from pyoxigraph import Literal, NamedNode, Triple

from shapes.results import validation_report
from sparql.model.change import Rejection, Statement, Violation
from sparql.model.vocabulary import RDF, SH, Namespace

EX = Namespace("http://example.org/")
STATEMENTS = [Statement(Triple(EX.s, EX.p, Literal(number))) for number in range(2)]


def violation(path: str | None, severity: NamedNode = SH.Violation) -> Violation:
    return Violation(
        EX.s, "too many", SH.MaxCountConstraintComponent, EX.shape, path, Literal(1), severity=severity
    )


def objects(report: list[Triple], predicate: NamedNode) -> list[object]:
    return [triple.object for triple in report if triple.predicate == predicate]


def test_a_violation_is_reported_once_whichever_statements_it_is_charged_to():
    found = violation(EX.p.value)
    report = validation_report([Rejection(one, (found,)) for one in STATEMENTS])
    assert len(objects(report, SH.result)) == 1
    assert objects(report, SH.conforms) == [Literal(False)]
    assert objects(report, SH.focusNode) == [EX.s]
    assert objects(report, SH.resultPath) == [EX.p]
    assert objects(report, SH.value) == [Literal(1)]
    assert objects(report, SH.sourceShape) == [EX.shape]
    assert objects(report, SH.sourceConstraintComponent) == [SH.MaxCountConstraintComponent]
    assert objects(report, SH.resultSeverity) == [SH.Violation]
    assert objects(report, SH.resultMessage) == [Literal("too many")]


def test_an_inverse_path_is_a_node_of_its_own():
    report = validation_report([Rejection(STATEMENTS[0], (violation("^" + EX.p.value),))])
    assert objects(report, SH.inversePath) == [EX.p]


def test_a_longer_path_is_left_to_the_shape():
    for path in (f"{EX.p.value}/{EX.q.value}", f"({EX.p.value})*", None):
        report = validation_report([Rejection(STATEMENTS[0], (violation(path),))])
        assert objects(report, SH.resultPath) == []


def test_warnings_alone_conform():
    report = validation_report([Rejection(STATEMENTS[0], (violation(None, SH.Warning),))])
    assert objects(report, SH.conforms) == [Literal(True)]
    assert SH.ValidationReport in objects(report, RDF.type)
