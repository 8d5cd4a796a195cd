"""Where `urbankg` begins: to serve, only what a server needs is imported."""

import gc
import sys

import typer


def main() -> None:
    """Run the command line."""
    # What is imported stays, and the collector would look through it again and again.
    gc.disable()
    if sys.argv[1:2] == ["serve"]:
        from server.serve_command import serve_app

        app = serve_app()
    else:
        from server.cli import app
    gc.freeze()
    gc.enable()
    run(app)


def run(app: typer.Typer) -> None:
    """Run these commands; user errors are one line on standard error and exit code 2."""
    try:
        app()
    except _user_errors() as error:
        from rich.console import Console

        told = Console(stderr=True, soft_wrap=True)
        told.print(f"urbankg: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


def _user_errors() -> tuple[type[Exception], ...]:
    """What is told in one line; looked up when there is something to tell."""
    from server.problem_map import USER_ERRORS

    return USER_ERRORS
