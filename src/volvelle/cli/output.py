"""Options on how an answer is shown; commands that can show it so inherit them."""

from pathlib import Path

import click

from volvelle.base.option_kinds import OutputFile, Switch
from volvelle.base.question import Option, Question, option
from volvelle.questions.shared import FIGURE, OUT, PICTURE, PLOT

__all__ = ["FIGURE", "OUT", "PICTURE", "PLOT", "Brief", "Html", "Json", "draws"]

_OUTPUT = "Output"


class Json(Question):
    """The answer as a JSON document."""

    as_json: bool = option(
        Option("--json", "Print JSON (schema: volvelle schema COMMAND).", kind=Switch(), group=_OUTPUT), default=False
    )


class Brief(Question):
    """The answer on one screen."""

    brief: bool = option(
        Option("--brief", "Print one screen, without sources and details.", kind=Switch(), group=_OUTPUT), default=False
    )


class Html(Question):
    """The answer as a page."""

    html: Path | None = option(
        Option("--html", "Write the answer as a web page.", kind=OutputFile(), group=_OUTPUT, metavar="FILE"),
        default=None,
    )


def draws(options: Question) -> bool:
    """Whether a page or a picture is asked for, which needs the engine that draws."""
    return any(
        isinstance(value, Path) and (part.name == "html" or part.kind is PICTURE) for part, value in options.given()
    )


def write_page(file: Path, page: str) -> None:
    """Write a page into a file, and say so."""
    file.write_text(page, "utf-8")
    click.echo(f"written: {file}", err=True)
