"""What ``plan hpl`` and ``calibrate hpl`` ask, in addition to what they ask of every application."""

from collections.abc import Sequence
from pathlib import Path

from volvelle.applications.hpl.fit import BOUNDS
from volvelle.applications.hpl.told import METHODS
from volvelle.base.option_kinds import Number, OutputFile, Switch, Words
from volvelle.base.question import Option, option
from volvelle.domains import NO_SIZE, NO_SPREAD, PLAIN_SHARE, UNITS
from volvelle.questions.applications import (
    BLOCKS_TO_TRY,
    FAMILY,
    GRID_COLUMNS,
    GRID_ROWS,
    MEMORY_TO_FILL,
    ORDER_OF_MATRIX,
    OWN_REPORTS,
    CalibrateQuestion,
    PlanApplicationQuestion,
)
from volvelle.questions.shared import EMIT, FIGURE

_METHOD = "Method"


class CalibrateHpl(CalibrateQuestion):
    """Options of a fit of High-Performance Linpack."""

    family: str = option(FAMILY, kind=Words(tuple(sorted(BOUNDS))), default="ampere")


class PlanHpl(PlanApplicationQuestion):
    """Options of a plan of High-Performance Linpack."""

    examples = ("--on frontier/75264 --top 3", "--on dgx-h100/64 --method layered --n 760000 --nb 1024 --p 8 --q 8")

    nb: Sequence[int] = option(BLOCKS_TO_TRY, default=(), usually="128 to 1024")
    memory: float = option(MEMORY_TO_FILL, kind=Number(PLAIN_SHARE), default=0.85)
    host_memory: str | float | None = option(
        Option(
            "--host-memory",
            "Host memory per GPU that the matrix may fill too, like '80 GB'.",
            kind=Number(NO_SIZE),
            group="Machine",
            usually="none",
            metavar="SIZE",
        ),
        default=None,
    )
    method: str = option(
        Option(
            "--method",
            "Model: panel by panel, in layers (MCL-HPL), or the original closed form.",
            kind=Words(METHODS),
            group=_METHOD,
        ),
        default="panels",
    )
    runs: str | None = option(
        OWN_REPORTS,
        help="Reports of your own runs on such GPUs, or a file that calibrate from --save wrote.",
        default=None,
    )
    n: int | None = option(ORDER_OF_MATRIX, default=None)
    p: int | None = option(GRID_ROWS, default=None)
    q: int | None = option(GRID_COLUMNS, default=None)
    cores: float | None = option(
        Option("--cores", "Cores of the GPU, for MCL-HPL.", kind=Number(UNITS), group=_METHOD, usually="by its chip"),
        default=None,
    )
    words: float | None = option(
        Option(
            "--words",
            "Width of the memory controllers in 64-bit words, for MCL-HPL.",
            kind=Number(UNITS),
            group=_METHOD,
            usually="by its chip",
        ),
        default=None,
    )
    cycles: float | None = option(
        Option("--cycles", "Memory latency in cycles, for MCL-HPL.", kind=Number(UNITS), group=_METHOD, usually="1029"),
        default=None,
    )
    efficiency: float = option(
        Option("--efficiency", "Share of peak at which closed forms compute.", kind=Number(PLAIN_SHARE), group=_METHOD),
        default=1.0,
    )
    curves: bool = option(
        Option("--curves", "Print the rate of all three models over N.", kind=Switch(), group="Output"), default=False
    )
    noise: float | None = option(
        Option(
            "--noise",
            "Relative spread of panel times, like 0.03; runs are drawn with it.",
            kind=Number(NO_SPREAD),
            group=_METHOD,
            usually="none",
        ),
        default=None,
    )
    machine_noise: float = option(
        Option(
            "--machine-noise",
            "Relative spread of product and link rates between runs, with --noise.",
            kind=Number(NO_SPREAD),
            group=_METHOD,
        ),
        default=0.02,
    )
    figure: Path | None = option(
        FIGURE, help="Draw rates over N, or with --noise their distribution: .svg or .png.", default=None
    )
    emit: Path | None = option(
        EMIT, kind=OutputFile(), help="Write the first choice as HPL.dat.", metavar="FILE", default=None
    )
