"""`python -m research`: training and evaluation, as commands of the kind that `urbankg` has."""

import typer

from research.commands_evaluate import evaluate_app
from research.commands_train import train, trajectories
from server.cli.app import options
from server.cli.entry import run


def main() -> None:
    """Run a command; user errors are one line on standard error and exit code 2."""
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback(help="Train models to extract, and measure extraction, completion and answers.")(options)
    app.add_typer(evaluate_app, name="evaluate")
    app.command()(train)
    app.command()(trajectories)
    run(lambda: app(prog_name="python -m research"))


if __name__ == "__main__":
    main()
