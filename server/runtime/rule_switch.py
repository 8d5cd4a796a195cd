"""Puts an edited ontology or edited shapes in force in a running server, and starts what follows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from server.rules.checking import Reasoner
from server.runtime.startup import asker, configure
from server.writes.extent import within_extent
from sparql.model.vocabulary import DEFAULT

if TYPE_CHECKING:
    from ontology import Schema
    from server.rules.rule_effects import RuleEffects
    from server.rules.ruleset import Ruleset
    from server.runtime.context import Services
    from sparql.writing.ontology_graph import Substitution


def put_in_force(services: Services, rules: Ruleset, substitute: Callable[[], Substitution]) -> None:
    """Put rules in force between two writes; requests under way keep those they began with.

    `substitute` gives what changes in statements in the same commit.
    """
    moment = datetime.now(UTC).isoformat()
    writer = services.writer
    configure(rules.gate, services)

    derivations = rules.derivations(services.settings)

    def switch() -> None:
        writer.use_rules(derivations)
        writer.gate = within_extent(rules.gate, services.settings.extent, rules.schema)
        services.rule_registry.current = rules
        _use_ontology(services, rules.schema)

    writer.replace_ontology(
        rules.schema.triples,
        record=lambda revision: rules.record(revision, moment),
        then=switch,
        substitute=substitute,
    )
    if writer.inferring == "stale":
        # Too much follows from the edit for it to wait, or other rules are followed.
        services.background.start("infer anew", writer.infer_anew)


def reason_after(services: Services, before: Ruleset, after: Ruleset) -> None:
    """After an edit of the ontology, run the reasoner in the background."""
    reasoner, background = Reasoner(services.settings.reasoner), services.background
    if reasoner is not Reasoner.NONE and before.schema.version != after.schema.version:
        background.start(
            f"reason over ontology {after.schema.version}",
            lambda: services.rule_registry.reason(after, reasoner, lambda: background.closing),
        )


def effects(services: Services) -> RuleEffects:
    """What measures and carries out what other rules change in the graph."""
    from server.curation.proposing import ProposalService
    from server.rules.rule_effects import RuleEffects

    return RuleEffects(
        services.store,
        services.writer,
        services.review,
        services.decisions,
        services.rule_registry.dry_runs,
        settle=lambda rules: ProposalService(services).settle(rules),
    )


def _use_ontology(services: Services, schema: Schema) -> None:
    """Read names and answer questions by another ontology; called under the writer's lock."""
    from sparql.names.labels import alias_properties

    started, labels = services.started, services.labels
    summary = started.asker.summary
    summary.use(schema)
    started.asker = asker(services, schema, labels, summary)
    if labels.use_aliases(alias_properties(schema)):
        named = [services.store.match_quads(None, one, None, DEFAULT) for one in labels.predicates]
        labels.rebuild(chain.from_iterable(named))
