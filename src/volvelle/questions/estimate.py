"""The question of ``volvelle estimate``."""

from collections.abc import Mapping, Sequence

from volvelle.base.option_kinds import Fields, Number, Words
from volvelle.base.question import Option, option
from volvelle.domains import REPLAYS
from volvelle.errors import DescriptionError, brief
from volvelle.questions.machine import RANDOM_SEED
from volvelle.questions.training import ANYWAY, RUN_TOKENS, LaidOutStep

ESTIMATOR_NAMES = ("closed", "event")
"""Formulas, or a replay of every kernel and transfer."""


def read_stragglers(texts: Sequence[str]) -> dict[int, float | str]:
    """Return stragglers that are typed as ``STAGE:SPEED``, the speed as 80% or 0.8."""
    stragglers: dict[int, float | str] = {}
    for text in texts:
        stage, colon, speed = text.partition(":")
        if not colon or not stage.strip().isdecimal() or not speed.strip():
            raise DescriptionError(
                f"--straggler is {brief(text)}; write STAGE:SPEED, like 2:80% for a GPU of stage 2 that has 80 % of "
                "its speed"
            )
        if int(stage) in stragglers:
            raise DescriptionError(f"--straggler names stage {int(stage)} twice; keep one")
        try:
            stragglers[int(stage)] = float(speed)
        except ValueError:
            stragglers[int(stage)] = speed.strip()
    return stragglers


class EstimateQuestion(LaidOutStep):
    """Estimate the time of one training step of MODEL on SYSTEM, what fits in memory, and where the time goes."""

    subcommand = "estimate"
    summary = "Time, memory, cost and energy of one training step, and where the time goes."
    examples = (
        "llama3-8b --on dgx-h100/8 --batch 128 --seq 8192 --zero 2",
        "llama3-70b --on dgx-h100/64 --batch 512 --tp 4 --pp 4 --tokens 2T --brief",
    )

    tokens: str | float | None = option(RUN_TOKENS, default=None)
    estimator: str = option(
        Option(
            "--estimator",
            "closed: formulas; event: a replay of every kernel and transfer.",
            kind=Words(ESTIMATOR_NAMES),
            group="Method",
        ),
        default="closed",
    )
    stragglers: Mapping[int, float | str] | None = option(
        Option(
            "--straggler",
            "Pipeline stage with a slower GPU, which all others wait for, like 2:80%. Needs --estimator event.",
            kind=Fields(read_stragglers, "STAGE:SPEED", ":"),
            group="Method",
            several=True,
        ),
        default=None,
    )
    replays: int = option(
        Option(
            "--replays",
            "Sampled machines to replay for the range, at most 64. Needs --estimator event.",
            kind=Number(REPLAYS),
            group="Method",
        ),
        default=0,
    )
    seed: int = option(RANDOM_SEED, default=0)
    anyway: bool = option(ANYWAY, default=False)
