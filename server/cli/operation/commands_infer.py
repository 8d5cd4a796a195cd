"""`urbankg infer`: recomputes all inferences of a folder, or deletes them, depending on the setting."""

import typer

from server.cli.invocation import settings_of
from server.cli.options import Config, Data, OntologyFolder, ShapesFolder
from server.cli.output import stderr
from server.cli.running_server import running_server
from server.errors import ServerError
from server.settings import Settings
from sparql.inference.derivation_rules import DerivationRules
from sparql.model.errors import StoreUnreadable


def infer(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    ontology: OntologyFolder = None,
    shapes: ShapesFolder = None,
) -> None:
    """Recompute all inferences of the graph; with the setting inference 'none', delete them."""
    infer_graph(settings_of(context, data=data, config=config, ontology=ontology, shapes=shapes).settings)


def infer_graph(settings: Settings) -> None:
    """Recompute the inferences of a folder. Raises ServerError for a folder held by a server."""
    server = running_server(settings.data, settings.api_key)
    if server is not None:
        raise ServerError(
            f"A server at {server.url} holds {settings.data} and keeps its inferences current. Stop it first "
            "to recompute everything."
        )
    if not (settings.data / "graph").is_dir():
        raise StoreUnreadable(settings.data, "there is no graph in it")
    # These packages take a while to load, and other commands do not need them.
    from ontology import Schema
    from server.settings_loading import SHIPPED_ONTOLOGY
    from server.stores import open_store
    from sparql.inference.materialized import Inferences, forget
    from sparql.model.vocabulary import INFERRED
    from sparql.spatial.relations import SpatialRelations
    from sparql.writing.writer import Writer

    schema = Schema.load(settings.ontology or SHIPPED_ONTOLOGY)
    more = shape_rules_of(settings)
    store = open_store(settings)
    try:
        writer = Writer(
            store,
            deriver=SpatialRelations(settings.tolerances),
            inferences=Inferences(store, settings.inference_max, more) if settings.infers else None,
        )
        with stderr.status("reading the graph") as status:
            writer.report_inference(
                lambda looked_at, inferred: status.update(
                    f"{looked_at:,} statements followed, {inferred:,} inferred"
                )
            )
            writer.replace_ontology(schema.triples)
            forget(store)
            writer.start()
        count = sum(1 for _ in store.match_quads(None, None, None, INFERRED))
        revision = store.revision()
    finally:
        store.close()
    if writer.rules_problem:
        raise ServerError(
            f"{count} inferences by axioms are in the graph, and none by rules. {writer.rules_problem}"
        )
    stderr.print(f"{count} inferences, as the setting '{settings.inference}' says; revision {revision}")


def shape_rules_of(settings: Settings) -> DerivationRules | None:
    """The rules of the shapes, where the settings want them to be followed."""
    if not settings.follows_rules:
        return None
    from server.settings_loading import SHIPPED_SHAPES
    from shapes.derivation.shape_rules import shape_rules
    from shapes.loading import load_shapes

    return shape_rules(load_shapes(settings.shapes or SHIPPED_SHAPES).graph)
