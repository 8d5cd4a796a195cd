"""Models of the answers about ontologies and shapes: findings, impact, edits and their files."""

from __future__ import annotations

from server.http.description.parts import Answer, Statement, Term, Violation


class Finding(Answer):
    """One finding of a check; `mend` says what to do."""

    level: str
    rule: str
    subject: str | None
    message: str
    mend: str
    file: str | None
    line: int | None


class Profile(Answer):
    """Whether the ontology is in a profile of OWL 2, and what is outside of it."""

    holds: bool
    outside: dict[str, int]


class CheckAnswer(Answer):
    """The findings of a check of ontology and shapes."""

    errors: int
    warnings: int
    infos: int
    findings: list[Finding]
    profiles: dict[str, Profile]
    notes: list[str]


class ShapeImpact(Answer):
    """What an edit would change for one shape."""

    shape: str
    change: str
    targets: int
    tested: int
    suspects: int
    judged: int
    failing: int
    mended: int
    failing_examples: list[Violation]
    mended_examples: list[Violation]


class InferenceImpact(Answer):
    """What an edit would change for one kind of conclusion."""

    conclusion: str
    added: bool
    statements: int
    examples: list[Term]


class TermImpact(Answer):
    """A term that an edit removes or deprecates and that the graph uses."""

    term: str
    change: str
    statements: int
    examples: list[Term]
    successor: str | None


class TermRewrite(Answer):
    """Statements that may use another term, or that use the old one again.

    `source` is the property by which the ontology names the new term, `request`, or `undo` where the edit
    returns to the version before an earlier rewrite.
    """

    old: str
    new: str
    source: str
    statements: int


class Impact(Answer):
    """What an edit would change: counts, and some examples."""

    failing: int
    mended: int
    passing: int
    waiting: int
    exact: bool
    notes: list[str]
    shapes: list[ShapeImpact]
    passing_examples: list[Statement]
    inferences: list[InferenceImpact]
    terms: list[TermImpact]
    rewrites: list[TermRewrite]


class RulesVersions(Answer):
    """The versions of ontology and shapes."""

    ontology: str
    version_iris: list[str]
    shapes: str


class RulesEdit(Answer):
    """What came, or would come, of an edit; `rewritten` is how many statements use other terms since."""

    switched: bool
    rules: RulesVersions
    before: RulesVersions
    rewritten: int
    check: CheckAnswer
    impact: Impact | None


class RulesFile(Answer):
    """A file of the rules in force; `direct`: it lies in the folder itself."""

    name: str
    sha256: str
    direct: bool


class RulesRecord(Answer):
    """Rules that were in force before."""

    kind: str
    version: str
    version_iris: list[str]
    files: list[str]
    first_in_force: str


class ShapeExampleRead(Answer):
    """A small graph, and whether the shape lets it pass."""

    name: str
    passes: bool
    turtle: str


class ShapeExamples(Answer):
    """The example graphs beside the shape files."""

    shape: str
    examples: list[ShapeExampleRead]


class RulesAnswer(Answer):
    """The rules in force."""

    rules: RulesVersions
    since: str
    problem: str | None
    inference: str | None
    background: list[str]
    files: dict[str, list[RulesFile]]
    check: CheckAnswer | None
    history: list[RulesRecord]
