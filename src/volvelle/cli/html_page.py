"""The option ``--html`` of every verb that answers, and the words of the command that its page repeats."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from volvelle.cli.words import Output

Command = TypeVar("Command", bound=Callable[..., Any])
_NOT_REPEATED = ("html", "as_json", "detail", "workload", "top", "seed")
"""Options that say how an answer is shown."""


def html_option(command: Command) -> Command:
    """Adds the option."""
    return click.option(
        "--html",
        type=Output(),
        metavar="FILE",
        callback=_engines_first,
        help="Write the answer as a page: figures that answer the pointer, sources, this command.",
    )(command)


def _engines_first(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse before anything is computed where pictures cannot be drawn."""
    if value is not None and not ctx.resilient_parsing:
        from volvelle.report.figures.engine import check_engines  # noqa: PLC0415 - keeps start-up short

        check_engines()
    return value


def write_page(file: Path | None, made: Callable[[str], str]) -> None:
    """Write the page that `made` makes of the command line, where a file was given."""
    if file is not None:
        file.write_text(made(command_line()), "utf-8")
        click.echo(f"written: {file}", err=True)


def command_line() -> str:
    """The command as it was typed."""
    words = click.get_current_context().find_root().obj
    return shlex.join(["volvelle", *(words or ())])


def asked_of_estimate(ctx: click.Context, estimate: click.Command, model: str, *, batch: int) -> list[str]:
    """What was asked of another verb, as words of ``volvelle estimate``, but for the layout."""
    from volvelle.mapping.parallelism import CHOICES  # noqa: PLC0415 - only where a page is written

    known = {param.name: param.opts[0] for param in estimate.params if isinstance(param, click.Option)}
    left_out = {*_NOT_REPEATED, "batch", *(choice.name for choice in CHOICES)}
    words = [model]
    for name, value in ctx.params.items():
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name in known and name not in left_out:
            several = [f"{field}={text}" for field, text in value.items()] if isinstance(value, dict) else value
            for each in several if isinstance(several, tuple | list) else (several,):
                words += [known[name], str(each)]
    return [*words, "--batch", str(batch)]
