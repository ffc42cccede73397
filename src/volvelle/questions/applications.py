"""Questions of the commands that every application has: validate, calibrate and plan.

An application adds options of its own in a subclass. `question_of` names the subclass after the application, so that
its command, its Python arguments and its JSON Schema are its own.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from volvelle.base.option_kinds import InputFile, Number, OutputFile, Switch, Text
from volvelle.base.question import Option, Question, option
from volvelle.domains import ACCELERATORS, BLOCK, DRAWS, ORDER
from volvelle.questions.machine import CATALOGUE, PROGRESS, RANDOM_SEED, SYSTEM
from volvelle.questions.shared import GROUP, PURPOSE_MODEL, TOP

if TYPE_CHECKING:
    from volvelle.questions.machine import Folder
    from volvelle.system.cluster import Cluster

Asked = TypeVar("Asked", bound=Question)

OWN_ROWS = Option(
    "--data",
    "Table of your own rows, in the columns of a shipped table.",
    kind=InputFile(exists=True),
    group="Files",
    metavar="FILE.csv",
)
OWN_REPORTS = Option(
    "--runs",
    "Reports of your own runs on such GPUs.",
    kind=Text(),
    group="Method",
    metavar="LOG",
)
OWN_MODEL = replace(
    PURPOSE_MODEL,
    help="Model of your own runs: a name in the catalogue, or a Hugging Face config.json or its folder.",
)
SAVE = Option("--save", "Write the constants.", kind=OutputFile(), group="Files", metavar="FILE.yaml")
FAMILY = Option("--family", "GPU family to fit.", group="Machine")
GRID = Option("GRID", "Side of the grid, like 1024, or three sides, like 2048x2048x1024.", metavar="GRID")
MEMORY_TO_FILL = Option("--memory", "Share of GPU memory to fill.", group="Machine")
ORDER_OF_MATRIX = Option("--n", "Rows of the matrix.", kind=Number(ORDER), usually="as many as fit")
BLOCKS_TO_TRY = Option(
    "--nb",
    "Block size to consider. May be given several times.",
    kind=Number(BLOCK),
    group="Layout",
    several=True,
)
GRID_ROWS = Option(
    "--p", "Rows of the process grid.", kind=Number(ACCELERATORS), group="Layout", usually="all that are worth trying"
)
GRID_COLUMNS = Option(
    "--q",
    "Columns of the process grid.",
    kind=Number(ACCELERATORS),
    group="Layout",
    usually="all that are worth trying",
)


class ValidateQuestion(Question):
    """Compare predictions with measured rows."""

    subcommand = "validate"
    examples = ("--worst 5", "--json")

    data: Path | str | None = option(OWN_ROWS, default=None)
    group: str | None = option(
        GROUP, default=None, help="Only publications whose names start with this.", metavar="NAME"
    )
    catalogue: "Folder" = option(CATALOGUE, flag="", configured="", default=None)
    advance: Callable[[], None] | None = option(PROGRESS, help="Function that is called after every row.", default=None)


class CalibrateQuestion(Question):
    """Fit the constants of an application to measured rows."""

    subcommand = "calibrate"
    examples = ("", "--json")

    data: Path | str | None = option(OWN_ROWS, default=None)


class PlanApplicationQuestion(Question):
    """Rank the runs of an application that are worth trying on a machine."""

    subcommand = "plan"

    on: "Cluster | str" = option(SYSTEM)
    catalogue: "Folder" = option(CATALOGUE, default=None)
    top: int = option(TOP, help="Plans to show.", default=8)
    scaling: bool = option(
        Option("", "Time other GPU counts as well, where the application shows them.", kind=Switch()), default=True
    )


def question_of(options: type[Asked], word: str, summary: str, text: str) -> type[Asked]:
    """Return the class of questions that a command asks one application: its options, under the application's name."""
    declared: Any = options  # a class of dataclasses is no Hashable to type checkers
    named: type[Asked] = _named(declared, word, summary, text)
    return named


@cache
def _named(options: Any, word: str, summary: str, text: str) -> Any:
    subcommand = f"{options.subcommand} {word}"
    named = {"__doc__": text, "__module__": options.__module__, "subcommand": subcommand, "summary": summary}
    return type(options.__name__, (options,), named)


class IntervalsQuestion(Question):
    """Count how many held-out rows lie within the 50, 80 and 95 % ranges of their predictions.

    Rows are counted by application, and by publication that the fit did not use, next to a plain range of ± 35 %. This
    takes a minute.
    """

    subcommand = "validate intervals"
    summary = "Whether ranges contain as many held-out rows as they promise."
    examples = ("", "--json")


class GoodputQuestion(Question):
    """Compare predicted effective training time with reported runs of other systems, and with single figures.

    Intervals are scored. Figures that are reported as "more than" or "up to" are scored as bounds. The last line has
    the scores.
    """

    subcommand = "validate goodput"
    summary = "Effective training time against reported runs, all held out."
    examples = ("--worst 5", "--json")


class OwnRunsValidationQuestion(Question):
    """Measure how much a few runs of your own improve predictions, by treating published machines as yours.

    Each published machine with 8 or more runs plays the user. None, 1, 3 or 8 of its runs are drawn as own runs, and
    the others are predicted. Machines of calibration sources are left out of the fit in turn. Held-out machines never
    were part of it, and are scored separately.
    """

    subcommand = "validate calibration"
    summary = "How much a few own runs improve predictions, machine by machine."
    examples = ("", "--draws 200 --json")

    draws: int = option(
        Option("--draws", "Times that own runs are drawn.", kind=Number(DRAWS), group="Method"), default=50
    )
    seed: int = option(RANDOM_SEED, help="Seed of the draws.", default=0)
