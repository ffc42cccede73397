"""The option ``--html`` of every verb that answers, and the words of the command that its page repeats."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

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


def write_page(file: Path | None, made: Callable[[str], str] | str) -> None:
    """Write a page, or the page that `made` makes of the command line, where a file was given."""
    if file is not None:
        file.write_text(made if isinstance(made, str) else made(command_line()), "utf-8")
        click.echo(f"written: {file}", err=True)


def command_line() -> str:
    """The command as it was typed."""
    words = click.get_current_context().find_root().obj
    return shlex.join(["volvelle", *(words or ())])
