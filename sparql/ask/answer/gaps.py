"""What is missing when a question cannot be answered: a word, a name, a term of the ontology, or data.

Each gap is also a missing triple, with "?" for its unknown parts, so that it can be completed later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Any, Final

from sparql.ask.compile.compiler import Compiler
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import ClassName, EntityName, PropertyName
from sparql.ask.linking.summary import RunQuery
from sparql.ask.linking.words import Token
from sparql.ask.plan.nodes import (
    Aggregation,
    And,
    Compare,
    CompareTo,
    Count,
    Difference,
    DistanceTo,
    Every,
    Exists,
    Group,
    Kind,
    List,
    Named,
    Near,
    Node,
    Plan,
    PropertyLink,
    Quantity,
    Related,
    Set,
    SideOf,
    Table,
    Term,
    Top,
    Values,
)
from sparql.ask.plan.typing import QuantityKind
from sparql.ask.plan.wording import phrase, quantity_words, restriction_words
from sparql.ask.plan.words import inverse_words, is_participle

__all__ = ["UNKNOWN", "Gap", "GapKind", "data_gap", "nodes_of", "set_of", "unknown_words", "word_gaps"]

UNKNOWN: Final = "?"
_SURE: Final = 0.3
KindOf = Callable[[Quantity], QuantityKind]


class GapKind(StrEnum):
    """What is missing: an entity, a term of the ontology, a statement in the graph, or a choice."""

    ENTITY = "entity"
    SCHEMA = "schema"
    DATA = "data"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True)
class Gap:
    """One thing that is missing, as a sentence and as a triple; `step` is a plan's step, 0 for none."""

    kind: GapKind
    message: str
    step: int = 0
    subject: str = UNKNOWN
    property: str = UNKNOWN
    object: str = UNKNOWN

    def as_json(self) -> dict[str, Any]:
        """Return the gap as a JSON object."""
        return {**asdict(self), "kind": self.kind.value}


def word_gaps(linked: LinkedQuestion, words: Sequence[Token]) -> list[Gap]:
    """Return a gap for each run of words that no plan uses: a name, or a word for a class or property."""
    return [_word_gap(run, linked) for run in _runs(linked.tokens, words)]


def _word_gap(run: Sequence[Token], linked: LinkedQuestion) -> Gap:
    words = linked.text[run[0].start : run[-1].end]
    is_name = any(token.raw[:1].isupper() for token in run) and run[0] is not linked.tokens[0]
    known = next(_named_by(run, linked), None)
    if known is not None:
        message = f"I know {known.words}, but no query that fits all words of the question. Say it otherwise."
        return Gap(GapKind.SCHEMA, message, 0, known.words)
    declared = None if is_name else _property_of(run, linked)
    if declared is not None:
        message = (
            f'The ontology has "{declared.words}", but the graph has no statement of it that fits all words '
            "of the question. Say it otherwise, or add the statement."
        )
        return Gap(GapKind.DATA, message, 0, _subject_of(linked), declared.words)
    if is_name:
        words = linked.text[run[0].start : _end_of_name(run[-1], linked.tokens).end]
        message = f"I did not use: {words}. No entity of the graph has this name. Check it, or add it."
        return Gap(GapKind.ENTITY, message, 0, words)
    message = (
        f"I did not use: {words}. Nothing in the graph or ontology stands for it here. Say it otherwise."
    )
    return Gap(GapKind.SCHEMA, message, 0, UNKNOWN, words)


def _property_of(run: Sequence[Token], linked: LinkedQuestion) -> Term | None:
    """The property of the ontology that just these words name best."""
    found = [
        (one.cost, one.meaning.term)
        for one in linked.readings
        if isinstance(one.meaning, PropertyName)
        and one.cost <= _SURE
        and list(linked.tokens[one.start : one.end]) == list(run)
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _subject_of(linked: LinkedQuestion) -> str:
    """The one thing that a question names and that is not only where its things are; "?" for several."""
    named = {one.meaning.term.words for one in linked.names if isinstance(one.meaning, EntityName)}
    of_kinds = any(isinstance(one.meaning, ClassName) for one in linked.readings)
    return named.pop() if len(named) == 1 and not of_kinds else UNKNOWN


def _end_of_name(last: Token, tokens: Sequence[Token]) -> Token:
    """The last capitalized word of a name: of "Mirror Palace" a plan may use "Palace" alone, as a class."""
    following = takewhile(lambda token: token.raw[:1].isupper(), tokens[tokens.index(last) + 1 :])
    return [last, *following][-1]


def _named_by(run: Sequence[Token], linked: LinkedQuestion) -> Iterator[Term]:
    """The entities that just these words name; an article may be before them."""
    for one in linked.readings:
        words = list(linked.tokens[one.start : one.end])
        if isinstance(one.meaning, EntityName) and words[-len(run) :] == list(run):
            yield one.meaning.term


def _runs(tokens: Sequence[Token], words: Sequence[Token]) -> Iterator[list[Token]]:
    run: list[Token] = []
    for token in tokens:
        if token in words:
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run


async def data_gap(plan: Plan, compiler: Compiler, kind: KindOf, run_query: RunQuery) -> Gap:
    """Find the first condition after which nothing is left, by an ASK for each beginning of the plan."""
    for node in nodes_of(plan):
        entity = _place_of(node)
        if entity is not None and not _is_true(await run_query(compiler.has_geometry(entity.entity))):
            words = entity.entity.words
            message = f"{words} has no geometry in the graph, so nothing can be found near it. Add one."
            return Gap(GapKind.DATA, message, 0, words, "has geometry", UNKNOWN)
    node = set_of(plan)
    if isinstance(plan, Difference):
        for one in (plan.left, plan.right):
            if not _is_true(await run_query(compiler.has_value(one, plan.quantity, kind))):
                return _no_value(one, plan.quantity)
    parts = node.sets if isinstance(node, And) else (node,)
    for number in range(1, len(parts) + 1):
        beginning = And(parts[:number]) if number > 1 else parts[0]
        if not _is_true(await run_query(compiler.exists(beginning, kind))):
            # That there is no architect at all says less than that the museum has none.
            of_names = [one for one in parts if _is_link_to_name(one)]
            shown = of_names[:1] if isinstance(parts[number - 1], Kind) else []
            return _empty_part(shown or parts[:number], number)
    if isinstance(plan, Values | Aggregation):
        return _no_value(node, plan.quantity)
    return Gap(GapKind.DATA, "The result is empty.", len(parts))


def _is_link_to_name(node: Set) -> bool:
    return isinstance(node, Related) and isinstance(node.link, PropertyLink) and isinstance(node.to, Named)


def _no_value(node: Set, quantity: Quantity) -> Gap:
    message = f"Not recorded: {unknown_words(quantity, phrase(node))}."
    return Gap(GapKind.DATA, message, 1, phrase(node), quantity_words(quantity), UNKNOWN)


def unknown_words(quantity: Quantity, of: str) -> str:
    """Return a value that is not recorded, as a noun phrase: "the date opened of Times Square"."""
    words = quantity_words(quantity)
    return f"the date {words} of {of}" if is_participle(words) else f"{words} of {of}"


def _empty_part(parts: Sequence[Set], number: int) -> Gap:
    part = parts[-1]
    before = phrase(And(tuple(parts[:-1])) if len(parts) > 2 else parts[0]) if number > 1 else ""
    message = (
        f"The graph has {before}, but none {restriction_words(part)}."
        if before
        else f"The graph has nothing for {phrase(part)}."
    )
    subject, relation, object_ = UNKNOWN, UNKNOWN, UNKNOWN
    match part:
        case Kind(of):
            relation, object_ = "is a", of.words
        case Related(PropertyLink(term, inverse), to):
            if inverse and not before:
                what = inverse_words(term, phrase(to)).removeprefix("that ")
                message = f"Not recorded: what {what}."
            subject, object_ = (phrase(to), UNKNOWN) if inverse else (before or UNKNOWN, phrase(to))
            relation = term.words
        case Related(link, to):
            relation, object_ = str(getattr(link, "place", UNKNOWN)), phrase(to)
            subject = before or UNKNOWN
        case Compare(quantity) | CompareTo(quantity):
            subject, relation = before or UNKNOWN, quantity_words(quantity)
        case Top(kept, quantity):
            subject, relation = phrase(kept), quantity_words(quantity)
            message = f"Not recorded: {unknown_words(quantity, subject)}."
        case _:
            subject = before or UNKNOWN
    return Gap(GapKind.DATA, message, number, subject, relation, object_)


def set_of(plan: Plan) -> Set:
    """Return the set that a plan is about."""
    match plan:
        case List(node, _) | Count(node) | Exists(node) | Table(node) | Every(node):
            return node
        case Values(_, node) | Aggregation(_, _, node):
            return node
        case Difference(_, left, _):
            return left
        case Group(each):
            return each
    raise AssertionError(plan)


def nodes_of(part: Any) -> Iterator[Node]:
    """Yield all nodes of a plan."""
    if isinstance(part, tuple):
        for one in part:
            yield from nodes_of(one)
    elif isinstance(part, Node):
        yield part
        for one in vars(part).values():
            yield from nodes_of(one)


def _place_of(node: Node) -> Named | None:
    """Return the place whose geometry a node needs."""
    of = node.of if isinstance(node, Near | SideOf) else node.to if isinstance(node, DistanceTo) else None
    return of if isinstance(of, Named) else None


def _is_true(results: Mapping[str, Any]) -> bool:
    return bool(results.get("boolean"))
