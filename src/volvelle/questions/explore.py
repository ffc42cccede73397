"""The question of ``volvelle explore``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from volvelle.base.option_kinds import InputFile, Number, OutputFile, Switch, Text
from volvelle.base.question import Option, option
from volvelle.domains import SEQUENCES
from volvelle.questions.machine import CALIBRATED, MARGIN_LEFT, STACK, SYSTEM, OtherMachine, Software
from volvelle.questions.shared import OUT, WORKERS

_STATED = "the study's"


class ExploreQuestion(OtherMachine, Software):
    """Evaluate every point of the design space that STUDY describes, and find the best.

    Results are Parquet files in a folder, together with report.html and front.csv. Run the same command again to
    continue after an interruption: points that are finished are not computed twice.
    """

    subcommand = "explore"
    summary = "A design space from a file: every point, the best, the Pareto front, and why."
    examples = (
        "study.yaml --dry-run",
        "study.yaml --on dgx-h100/64 --invert 'days <= 30 and usd minimal'",
    )

    study: "Path | str | Mapping[str, object] | Any" = option(
        Option(
            "STUDY",
            "YAML file that describes the study.",
            kind=InputFile(("DesignStudy", "Mapping")),
            metavar="STUDY",
        ),
        kw_only=False,
    )
    out: Path | str | None = option(
        OUT,
        default=None,
        help="Folder for results.",
        kind=OutputFile(folder=True),
        group="Files",
        usually="STUDY's name + .results",
    )
    fresh: bool = option(
        Option("--fresh", "Discard the results of earlier runs in the folder.", kind=Switch(), group="Files"),
        default=False,
    )
    on: str = option(
        SYSTEM, kind=Text(), default="", help="Machine that axes start from.", usually=_STATED, configured=""
    )
    stack: str = option(STACK, default="", usually=_STATED, configured="")
    calibrated: Path | str | None = option(CALIBRATED, default=None, configured="")
    margin: str | float | None = option(MARGIN_LEFT, default=None, usually=_STATED, configured="")
    workers: int | None = option(WORKERS, default=None)
    ray: str | None = option(
        Option(
            "--ray",
            "Run on a Ray cluster, at an address or on this machine.",
            kind=Text(),
            group="Method",
            metavar="[ADDRESS]",
            alone="",
        ),
        default=None,
    )
    compiled: bool = option(
        Option(
            "--compiled",
            "Compile the model first (numba): several times faster on many points.",
            kind=Switch(),
            group="Method",
        ),
        default=False,
    )
    chunk: int | None = option(
        Option(
            "--chunk",
            "Points that are evaluated at once.",
            kind=Number(SEQUENCES),
            group="Method",
            usually="about two seconds of work",
        ),
        default=None,
    )
