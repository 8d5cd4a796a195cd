"""The command line: which module has which command.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 done but something
was refused or missing, 2 could not be done.
"""

from importlib import import_module
from typing import Final

import typer

from server.cli.serve_command import options

COMMANDS: Final = {
    "serve": "server.cli.serve_command:serve",
    "query": "server.cli.commands_query:query",
    "extract": "server.cli.text.commands_extract:extract",
    "ask": "server.cli.commands_query:ask",
    "validate": "server.cli.commands_query:validate",
    "load": "server.cli.operation.commands_storage:load",
    "dump": "server.cli.operation.commands_storage:dump",
    "backup": "server.cli.operation.commands_storage:backup",
    "restore": "server.cli.operation.commands_storage:restore_command",
    "optimize": "server.cli.operation.commands_storage:optimize",
    "relate": "server.cli.operation.commands_relate:relate",
    "infer": "server.cli.operation.commands_infer:infer",
    "check": "server.cli.rules.commands_rules:check_files",
    "impact": "server.cli.rules.commands_rules:impact",
    "shapes": "server.cli.rules.commands_rules:shapes_made",
    "ontology": "server.cli.rules.commands_ontology:ontology_app",
    "review": "server.cli.curation.commands_review:review_app",
    "held": "server.cli.curation.commands_held:held_app",
    "gaps": "server.cli.curation.commands_gaps:gaps_app",
    "proposals": "server.cli.curation.commands_proposals:proposals_app",
    "entity": "server.cli.curation.commands_entities:entity_app",
    "jobs": "server.cli.text.commands_jobs:jobs_app",
    "models": "server.cli.text.commands_models:models",
    "model": "server.cli.text.commands_model:model_app",
    "prompts": "server.cli.text.commands_prompts:prompts",
    "trace": "server.cli.text.commands_trace:trace",
    "key": "server.cli.operation.commands_keys:key_app",
    "config": "server.cli.operation.commands_config:config_app",
    "mcp": "server.cli.mcp_command:mcp",
    "demo": "server.cli.demo:demo",
}
"""Every command, and the function or the group of commands that it is."""
RESEARCH: Final = {
    "evaluate": "server.research.commands_evaluate:evaluate_app",
    "train": "server.research.commands_train:train",
    "trajectories": "server.research.commands_train:trajectories",
}
"""The same for research, which `--help` lists apart."""


def command_line(command: str | None = None) -> typer.Typer:
    """The command line, with this command alone, or all where there is none of that name.

    A module is imported with its commands only: all together take longer than most of them run.
    """
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback()(options)
    for panel, places in ((None, COMMANDS), ("Research", RESEARCH)):
        known = command in COMMANDS or command in RESEARCH
        for name, place in places.items():
            if not known or name == command:
                _add(app, name, place, panel)
    return app


def _add(app: typer.Typer, name: str, place: str, panel: str | None) -> None:
    module, _, attribute = place.partition(":")
    added = getattr(import_module(module), attribute)
    if isinstance(added, typer.Typer):
        app.add_typer(added, name=name, rich_help_panel=panel)
    else:
        app.command(name, rich_help_panel=panel)(added)
