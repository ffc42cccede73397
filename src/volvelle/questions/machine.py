"""Options about the machine that many questions share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from volvelle.base.option_kinds import Fields, InputFile, Instance, Named, Number, Text
from volvelle.base.question import Option, Question, option
from volvelle.domains import MARGIN, SEED
from volvelle.errors import DescriptionError, brief

if TYPE_CHECKING:
    from volvelle.catalogue import Catalogue

    Folder = Catalogue | Path | str | Sequence[Path | str] | None
    """A catalogue, or folders that are searched before the catalogue of the package."""

Changes = Mapping[str, str | float]
"""Field of the machine → ``2x``, ``+10%``, a quantity with its unit, or a name where the field is no number."""


def read_changes(texts: Sequence[str]) -> dict[str, str]:
    """Return the changes that are typed as ``FIELD=VALUE``."""
    changes: dict[str, str] = {}
    for text in texts:
        field, equals, value = text.partition("=")
        if not equals or not field.strip() or not value.strip():
            raise DescriptionError(f"--set is {brief(text)}; write FIELD=VALUE, like scale_up.rate=2x")
        if field.strip() in changes:
            raise DescriptionError(f"--set names {brief(field.strip())} twice; keep one")
        changes[field.strip()] = value.strip()
    return changes


SYSTEM = Option(
    "--on",
    "Machine and number of GPUs, like dgx-h100/64.",
    kind=Named("text or a Cluster", ("Cluster",)),
    group="Machine",
    metavar="SYSTEM",
    configured="system",
)
OTHER_SYSTEM = replace(SYSTEM, configured="")
"""A machine that a question may do without, so that no file sets it."""
SET = Option(
    "--set",
    "What if: another value of a machine field, like scale_up.rate=2x, chip.memory.capacity=192GB or chip=b200.",
    kind=Fields(read_changes, "FIELD=VALUE"),
    group="Machine",
    several=True,
)
CATALOGUE = Option(
    "--catalogue",
    "Folder with your own catalogue entries. May be given several times.",
    kind=InputFile(("Catalogue",)),
    group="Machine",
    several=True,
    configured="catalogue",
)
MARGIN_LEFT = Option(
    "--margin",
    "Share of GPU memory to leave free, like 10%.",
    kind=Number(MARGIN),
    group="Machine",
    usually="5 %",
    configured="margin",
)
STACK = Option(
    "--stack",
    "Training software, like megatron-core or fsdp.",
    kind=Named("text"),
    group="Software",
    usually="the usual one of the GPU",
    configured="stack",
)
CALIBRATED = Option(
    "--calibrated",
    "File of constants from your own runs (volvelle calibrate from --save).",
    kind=InputFile(),
    group="Software",
    metavar="FILE.yaml",
    configured="calibration",
)
ROUTING = Option(
    "--routing",
    "Routing of flows instead of the machine's own: d-mod-k, random or adaptive.",
    kind=Text(lower=True),
    group="Method",
)
RANDOM_SEED = Option("--seed", "Seed of random numbers.", kind=Number(SEED), group="Method")
PROGRESS = Option("", "Function that is called with the progress.", kind=Instance("a function", ("callable",)))


class OtherMachine(Question):
    """A machine with some of its numbers changed, from the catalogue or a folder of the user's."""

    set: Changes | None = option(SET, default=None)
    catalogue: "Folder" = option(CATALOGUE, default=None)


class Software(Question):
    """The software that trains, by its name or by a file of constants from the user's runs."""

    stack: str = option(STACK, default="")
    calibrated: Path | str | None = option(CALIBRATED, default=None)

    @property
    def software(self) -> str:
        """The name of the software, or the file that states it."""
        if self.calibrated is None:
            return self.stack
        if self.stack:
            raise DescriptionError(
                f"--calibrated {self.calibrated} states its software; leave out --stack {self.stack}, or the file"
            )
        return str(self.calibrated)
