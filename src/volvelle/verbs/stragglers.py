"""Pipeline stages that have a chip slower than the others, as they are typed and as a step has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from volvelle.domains import SHARE, STAGE
from volvelle.errors import DescriptionError, brief
from volvelle.verbs.estimators import EVENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Straggler:
    """A stage that waits for its slowest chip."""

    stage: int
    speed: float
    """Of that chip's kernels, over those of the others."""


def read_stragglers(texts: Sequence[str]) -> dict[int, float | str]:
    """Stragglers as they are typed, ``STAGE:SPEED`` each, the speed as 80% or 0.8."""
    found: dict[int, float | str] = {}
    for text in texts:
        stage, colon, speed = text.partition(":")
        if not colon or not stage.strip().isdecimal() or not speed.strip():
            raise DescriptionError(
                f"--straggler is {brief(text)}; write STAGE:SPEED, like 2:80% for a chip of stage 2 that has 80 % of "
                "its speed"
            )
        if int(stage) in found:
            raise DescriptionError(f"--straggler names stage {int(stage)} twice; keep one")
        try:
            found[int(stage)] = float(speed)
        except ValueError:
            found[int(stage)] = speed.strip()
    return found


def stragglers_of(told: Mapping[int, float | str] | None, estimator: str, stages: int) -> tuple[Straggler, ...]:
    """Those of a step with so many stages, in their order; refused where nothing could tell what they do."""
    if not told:
        return ()
    if estimator != EVENT:
        raise DescriptionError(
            f"the {estimator} estimator knows no stragglers; replay the step with --estimator event (estimator='event')"
        )
    for stage in told:
        STAGE.check(stage, "the stage of a straggler")
        if stage >= stages:
            raise DescriptionError(
                f"a straggler is at stage {stage}; there are {stages}, from 0 to {stages - 1} (--pp gives more)"
            )
    return tuple(
        Straggler(stage=stage, speed=SHARE.read(told[stage], f"the speed of the straggler at stage {stage}"))
        for stage in sorted(told)
    )
