"""Exceptions to the rules: what people accepted in the graph although a shape refuses or doubts it."""

from collections.abc import Iterator

from pyoxigraph import BlankNode

from curation.review.review_item import Decided, State
from curation.review.review_queue import ReviewQueue
from curation.review.review_search import ReviewFilter
from sparql.model.change import Violation

__all__ = ["Exceptions"]

_Key = tuple[object, ...]


class Exceptions:
    """Looks up who accepted a result of a validation, when and why."""

    def __init__(self, review: ReviewQueue) -> None:
        self._decisions = dict(_accepted(review))

    def of(self, violation: Violation) -> Decided | None:
        """The decision by which a person accepted what violates, if any."""
        return self._decisions.get(_key(violation))


def _accepted(review: ReviewQueue) -> Iterator[tuple[_Key, Decided]]:
    for item in review.items(review.find(ReviewFilter(state=State.ACCEPTED))):
        if item.decisions and item.accepted:
            for violation in item.violations:
                yield _key(violation), item.decisions[-1]


def _key(violation: Violation) -> _Key:
    """What a result is about; a shape without a name has another one at every reading."""
    shape = None if isinstance(violation.shape, BlankNode) else violation.shape
    return violation.focus, violation.component, shape, violation.path, violation.value
