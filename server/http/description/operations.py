"""The table of all operations: identifier, and the model of the JSON answer of each status.

Identifiers are names of functions in generated clients, so they stay. A test compares the table with the
routes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from server.http.description import curation_answers as curation
from server.http.description import graph_answers as graph
from server.http.description import rules_answers as rules
from server.http.description import text_answers as text
from server.http.description.parts import Answer, FeatureCollection


@dataclass(frozen=True)
class Operation:
    """One operation. `media_type` is that of the model; other forms of the answer have none."""

    identifier: str
    answers: Mapping[str, type[Answer]] = field(default_factory=dict)
    media_type: str = "application/json"


def _answers(identifier: str, model: type[Answer], status: str = "200") -> Operation:
    return Operation(identifier, {status: model})


_SPARQL_JSON: Final = "application/sparql-results+json"
OPERATIONS: Final[Mapping[tuple[str, str], Operation]] = {
    ("get", "/sparql"): Operation("sparql_get", {"200": text.SparqlResults}, _SPARQL_JSON),
    ("post", "/sparql"): Operation("sparql_post", {"200": text.SparqlResults}, _SPARQL_JSON),
    ("get", "/query"): Operation("query_get", {"200": text.SparqlResults}, _SPARQL_JSON),
    ("post", "/query"): Operation("query_post", {"200": text.SparqlResults}, _SPARQL_JSON),
    ("post", "/update"): _answers("update_post", graph.UpdateAnswer),
    ("get", "/.well-known/void"): Operation("void_get"),
    ("get", "/store"): Operation("store_get"),
    ("put", "/store"): _answers("store_put", graph.GraphWritten),
    ("post", "/store"): _answers("store_post", graph.GraphWritten),
    ("delete", "/store"): _answers("store_delete", graph.GraphWritten),
    ("get", "/store/{path}"): Operation("graph_get"),
    ("put", "/store/{path}"): _answers("graph_put", graph.GraphWritten),
    ("post", "/store/{path}"): _answers("graph_post", graph.GraphWritten),
    ("delete", "/store/{path}"): _answers("graph_delete", graph.GraphWritten),
    ("get", "/healthz"): _answers("get_health", graph.Health),
    ("get", "/readyz"): Operation("get_readiness", {"200": graph.Readiness, "503": graph.Readiness}),
    ("get", "/metrics"): Operation("get_metrics"),
    ("get", "/access"): _answers("get_access", graph.Access),
    ("get", "/verdicts"): _answers("get_verdicts", graph.Verdicts),
    ("get", "/queries/slow"): _answers("list_slow_queries", graph.SlowQueries),
    ("get", "/changes"): Operation("get_changes"),
    ("get", "/models"): _answers("get_models", graph.Models),
    ("post", "/models/probe"): _answers("probe_model", graph.ProbedModels),
    ("get", "/extractions"): _answers("list_extractions", text.ExtractionRuns),
    ("post", "/extractions"): _answers("extract", text.ExtractionAnswer),
    ("get", "/extractions/{identifier}/trace"): _answers("get_trace", text.ExtractionTrace),
    ("get", "/ontology"): Operation("get_ontology"),
    ("post", "/candidates"): _answers("post_candidates", text.ExtractionAnswer),
    ("post", "/jobs"): _answers("create_job", text.Job, "202"),
    ("get", "/jobs"): _answers("list_jobs", text.JobPage),
    ("get", "/jobs/{job}"): _answers("get_job", text.Job),
    ("delete", "/jobs/{job}"): Operation("delete_job"),
    ("get", "/jobs/{job}/documents"): _answers("list_job_documents", text.JobDocumentPage),
    ("get", "/jobs/{job}/events"): Operation("get_job_events"),
    ("post", "/jobs/{job}/pause"): _answers("pause_job", text.Job),
    ("post", "/jobs/{job}/resume"): _answers("resume_job", text.Job),
    ("post", "/jobs/{job}/cancel"): _answers("cancel_job", text.Job),
    ("post", "/jobs/{job}/retry"): _answers("retry_job", text.Job),
    ("post", "/sources"): _answers("post_sources", text.SourcesAnswer),
    ("post", "/relations"): _answers("relate", graph.RelationsAnswer),
    ("get", "/review"): _answers("list_review", curation.ReviewItems),
    ("get", "/review/{item}"): _answers("get_review_item", curation.ShownReviewItem),
    ("get", "/review/{item}/suggestions"): _answers("suggest_corrections", curation.SuggestedCorrections),
    ("get", "/entities"): Operation("describe_entity"),
    ("get", "/review/facets"): _answers("count_review_items", curation.ReviewFacets),
    ("get", "/review/groups"): _answers("group_review_items", curation.ReviewGroups),
    ("get", "/review/export"): Operation("export_review"),
    ("get", "/review/decisions"): _answers("list_decisions", curation.DecisionPage),
    ("post", "/review/decisions/{decision}/undo"): _answers("undo_decision", curation.DecisionAnswer),
    ("post", "/review/assignments"): _answers("assign_review_items", curation.Assigned),
    ("post", "/review/{item}/comments"): _answers("comment_review_item", curation.ReviewItem),
    ("post", "/review/decisions"): _answers("decide_review_items", curation.DecisionAnswer),
    ("post", "/review/{item}/accept"): _answers("accept_review_item", curation.DecisionAnswer),
    ("post", "/review/{item}/reject"): _answers("reject_review_item", curation.DecisionAnswer),
    ("post", "/review/{item}/reopen"): _answers("reopen_review_item", curation.DecisionAnswer),
    ("get", "/gaps"): _answers("list_gaps", text.GapPage),
    ("post", "/gaps/decisions"): _answers("decide_gaps", text.GapDecisionsAnswer),
    ("get", "/gaps/{gap}"): _answers("get_gap", text.ShownGap),
    ("post", "/gaps/{gap}/complete"): _answers("complete_gap", text.GapWorkAnswer),
    ("post", "/gaps/{gap}/verify"): _answers("verify_gap", text.GapWorkAnswer),
    ("post", "/gaps/{gap}/accept"): _answers("accept_gap", text.GapAccepted),
    ("post", "/gaps/{gap}/reject"): _answers("reject_gap", text.QueuedGap),
    ("post", "/gaps/{gap}/reopen"): _answers("reopen_gap", text.QueuedGap),
    ("get", "/proposals"): _answers("list_proposals", curation.ProposalPage),
    ("get", "/proposals/export"): Operation("export_proposals"),
    ("get", "/proposals/{proposal}"): _answers("get_proposal", curation.Proposal),
    ("post", "/proposals/{proposal}"): _answers("decide_proposal", curation.ProposalAnswer),
    ("get", "/documents"): _answers("list_documents", curation.DocumentPage),
    ("get", "/documents/{document}"): _answers("get_document", curation.ShownDocument),
    ("delete", "/documents/{document}"): _answers("delete_document", curation.DocumentRemoval),
    ("get", "/entities/merges"): _answers("list_merges", curation.MergePage),
    ("post", "/entities/merge"): _answers("merge_entities", curation.MergeAnswer),
    ("post", "/entities/merges/{merge}/split"): _answers("split_entities", curation.MergeAnswer),
    ("get", "/features"): Operation("get_features", {"200": FeatureCollection}, "application/geo+json"),
    ("get", "/"): _answers("get_landing_page", graph.LandingPage),
    ("get", "/conformance"): _answers("get_conformance", graph.Conformance),
    ("get", "/collections"): _answers("list_collections", graph.CollectionList),
    ("get", "/collections/{collection}"): _answers("get_collection", graph.Collection),
    ("get", "/collections/{collection}/items"): Operation(
        "list_items", {"200": graph.FeaturePage}, "application/geo+json"
    ),
    ("get", "/collections/{collection}/items/{feature}"): Operation(
        "get_item", {"200": graph.CollectionFeature}, "application/geo+json"
    ),
    ("get", "/suggest"): _answers("suggest", curation.SuggestionsAnswer),
    ("post", "/ask"): _answers("ask", text.AskAnswer),
    ("post", "/ask/run"): _answers("run_plan", text.AskAnswer),
    ("post", "/backup"): _answers("back_up", graph.BackupAnswer),
    ("post", "/loads"): _answers("load_files", graph.LoadsAnswer),
    ("post", "/optimize"): _answers("optimize", graph.Revision),
    ("get", "/dump"): Operation("get_dump"),
    ("get", "/rules"): _answers("get_rules", rules.RulesAnswer),
    ("get", "/rules/{kind}/{version}/{file}"): Operation("get_earlier_rules_file"),
    ("get", "/rules/examples"): _answers("get_examples", rules.ShapeExamples),
    ("get", "/shapes"): Operation("get_shapes"),
    ("post", "/rules"): _answers("post_rules", rules.RulesEdit),
    ("post", "/check"): _answers("check_rules", rules.CheckAnswer),
    ("post", "/impact"): _answers("get_impact", rules.RulesEdit),
    ("get", "/ontologies/{file}"): Operation("get_ontology_file"),
    ("put", "/ontologies/{file}"): Operation(
        "put_ontology_file", {"200": rules.RulesEdit, "201": rules.RulesEdit}
    ),
    ("delete", "/ontologies/{file}"): _answers("delete_ontology_file", rules.RulesEdit),
    ("get", "/shapes/{file}"): Operation("get_shapes_file"),
    ("put", "/shapes/{file}"): Operation("put_shapes_file", {"200": rules.RulesEdit, "201": rules.RulesEdit}),
    ("delete", "/shapes/{file}"): _answers("delete_shapes_file", rules.RulesEdit),
}

TAGS: Final = {
    "sparql": "Queries and updates by the SPARQL 1.1 Protocol, and the description of the service.",
    "graph store": "Whole graphs by the SPARQL 1.1 Graph Store HTTP Protocol.",
    "extraction": "Text and statements in: judged one by one, committed as far as they conform.",
    "jobs": "Many texts at once, in the background.",
    "ask": "Questions in words.",
    "review": "What was refused or doubted, and waits for a person.",
    "gaps": "What questions missed, and what fills it.",
    "proposals": "Words that the ontology does not have.",
    "documents": "The texts, what they support, and their removal.",
    "entities": "Names, and entities that are one.",
    "features": "Features by class, for GIS programs (OGC API - Features).",
    "geometry": "Relations of geometries, and features to draw.",
    "rules": "Ontology and shapes: check, try and edit them.",
    "ontology": "The ontology under its own address.",
    "changes": "Every commit, in order.",
    "operations": "Health, models, backups and loads.",
}
