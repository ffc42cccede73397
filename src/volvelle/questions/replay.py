"""The question of ``volvelle replay``."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from volvelle.base.option_kinds import InputFile, Number, Words
from volvelle.base.question import Option, option
from volvelle.domains import ACCELERATORS, CLOCK
from volvelle.questions.machine import OTHER_SYSTEM, RANDOM_SEED, OtherMachine
from volvelle.questions.shared import GROUP
from volvelle.questions.training import ELEMENT

if TYPE_CHECKING:
    from volvelle.system.cluster import Cluster

Gaps = Literal["keep", "drop"]
"""What becomes of the time of the host between operations."""


class ReplayQuestion(OtherMachine):
    """Show how long a recorded TRACE takes on SYSTEM, where the time goes, and how much of the trace is understood.

    TRACE is a Kineto profile (.json, .json.gz), an execution trace of PyTorch, a Chakra trace (.et), an exported
    program (.pt2), an ONNX model or a list of phases. An execution trace may come with a Kineto PROFILE of the same
    run.
    """

    subcommand = "replay"
    summary = "A recorded trace on another machine, and how much of it is understood."
    examples = (
        "examples/traces/transformer_layer.json.gz --on dgx-h100/8",
        "examples/traces/step --on dgx-h100/4 --from dgx-a100/4",
    )

    trace: Path | str = option(Option("TRACE", "Recorded trace.", kind=InputFile()), kw_only=False)
    profile: Path | str | None = option(
        Option("PROFILE", "Kineto profile of the run of an execution trace.", kind=InputFile()),
        default=None,
        kw_only=False,
    )
    on: "Cluster | str | None" = option(
        OTHER_SYSTEM, default=None, help="Machine to replay on, like dgx-h100/8.", usually="as measured"
    )
    source: "Cluster | str | None" = option(
        OTHER_SYSTEM,
        flag="--from",
        default=None,
        help="Machine of the trace; scales measured times, instead of formulas.",
    )
    like: Path | str | None = option(
        Option(
            "--like",
            "Kineto profile from the machine of --from; scales operations without times.",
            kind=InputFile(),
            metavar="PROFILE",
        ),
        default=None,
    )
    clock: str | float | None = option(
        Option("--clock", "Clock rate of phases that count in cycles, like 1.6GHz.", kind=Number(CLOCK)), default=None
    )
    element: str | None = option(
        ELEMENT, default=None, help="Element type of all matrix products.", usually="as in the trace"
    )
    group: int | None = option(
        GROUP,
        default=None,
        help="Ranks of collectives whose members the trace does not state.",
        kind=Number(ACCELERATORS),
        usually="all",
    )
    gaps: Gaps = option(
        Option("--gaps", "Time of the host between operations.", kind=Words(get_args(Gaps))), default="keep"
    )
    seed: int = option(RANDOM_SEED, default=0)
