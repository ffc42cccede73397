"""The question of ``volvelle catalogue``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from volvelle.base.option_kinds import Switch
from volvelle.base.question import Option, Question, option
from volvelle.questions.machine import CATALOGUE

if TYPE_CHECKING:
    from volvelle.questions.machine import Folder


class CatalogueQuestion(Question):
    """Show the entries of the catalogue, or search it.

    KIND is chips, clusters, links, models, calibrations, reliability (failures, recovery, power) or stacks (software).
    A kind alone prints one line per entry. With the NAME of an entry, every number of it is printed with its source;
    with a part of a name, like h100, all entries that contain it. Case and punctuation are ignored.
    """

    subcommand = "catalogue"
    summary = "Chips, clusters, models, software and the source of every number."
    examples = ("chips h100-sxm", "h100 --json")

    words: Sequence[str] = option(
        Option(
            "NAME", "Kind of entries, name of an entry, or a part of a name.", several=True, metavar="[KIND] [NAME]"
        ),
        default=(),
    )
    catalogue: "Folder" = option(CATALOGUE, default=None)
    exact: bool = option(
        Option(
            "--exact",
            "Only numbers that are used as exact, because no source states their spread.",
            kind=Switch(),
            group="Search",
        ),
        default=False,
    )
