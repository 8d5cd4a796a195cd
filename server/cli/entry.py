"""Where `urbankg` begins: only what the command needs is imported."""

import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn


def main() -> None:
    """Run the command line."""
    # What is imported stays, and the collector would look through it again and again.
    gc.disable()
    from server.cli.app import command_line

    name = sys.argv[1] if len(sys.argv) > 1 else _completed()
    # That option is the same with any command.
    app = command_line("serve" if name == "--version" else name)
    gc.freeze()
    gc.enable()
    run(lambda: app(prog_name="urbankg"))


def run(command: Callable[[], object]) -> None:
    """Run a command; user errors and unusable files are one line on standard error and exit code 2."""
    try:
        command()
    except _user_errors() as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        _fail(
            f"{error.filename} cannot be used: {error.strerror}. Check that it is there, of the right kind, "
            "and that this user may read and write it."
        )
    except RuntimeError as error:
        from sparql.model.errors import damage_in

        damaged = damage_in(error)
        if damaged is None:
            raise
        _fail(str(damaged))


def _fail(message: str) -> NoReturn:
    from rich.console import Console

    console = Console(stderr=True, soft_wrap=True)
    console.print(f"urbankg: {message}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)


def _completed() -> str | None:
    """The command whose options a shell wants completed; the others need not be imported."""
    words = os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()
    return words[1] if len(words) > 2 else None


def _user_errors() -> tuple[type[Exception], ...]:
    """Errors reported in one line; imported with the first error."""
    from server.problem_map import USER_ERRORS

    return USER_ERRORS
