"""Who works on review items, and what people say about them before they decide.

Assignees and comments are part of an item in the review graph: they are deleted with it, and no decision
changes them.
"""

import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, Quad

from curation.review.review_item import quad
from curation.review.review_queue import ReviewQueue
from curation.review.reviewer import Reviewer
from shapes.errors import ReviewItemUnknown
from sparql.model.change import Change
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, RDF, RDFS, REVIEW, UKG, XSD
from sparql.writing.writer import Writer


class ReviewNotes:
    """Assigns items to people, and adds comments; every call is one commit. Raises `ReviewItemUnknown`."""

    def __init__(self, store: TripleStore, writer: Writer, review: ReviewQueue) -> None:
        self._store = store
        self._writer = writer
        self._review = review

    def assign(self, items: Sequence[NamedNode], assignee: str | None) -> None:
        """Assign items to a person, or to nobody."""
        old: list[Quad] = []

        def new() -> Iterator[Quad]:
            if assignee is not None:
                name = Literal(assignee)
                yield from (quad(item, UKG.assignee, name) for item in items)

        def build() -> Change:
            self._refuse_unknown(items)
            old.extend(q for item in items for q in self._store.match_quads(item, UKG.assignee, None, REVIEW))
            return Change(judged=True, record=lambda _: new(), retract=lambda _: old)

        self._writer.commit_built(build)

    def comment(self, item: NamedNode, text: str, by: Reviewer) -> NamedNode:
        """Add a comment to an item."""
        comment = NamedNode(f"{item.value}/comment/{uuid.uuid4().hex}")
        now = Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
        added = (
            quad(item, UKG.comment, comment),
            quad(comment, RDF.type, UKG.Comment),
            quad(comment, RDFS.comment, Literal(text)),
            quad(comment, DCTERMS.creator, Literal(by.name)),
            quad(comment, DCTERMS.created, now),
        )

        def build() -> Change:
            self._refuse_unknown([item])
            return Change(judged=True, record=lambda _: added)

        self._writer.commit_built(build)
        return comment

    def _refuse_unknown(self, items: Sequence[NamedNode]) -> None:
        for item in items:
            if not self._review.exists(item):
                raise ReviewItemUnknown(item.value)
