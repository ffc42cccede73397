"""Pipeline stages that have a chip slower than the others, as they are typed and as a step has them."""

from collections.abc import Mapping
from dataclasses import dataclass

from volvelle.domains import SHARE, STAGE
from volvelle.errors import DescriptionError
from volvelle.verbs.estimators import EVENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Straggler:
    """A stage that waits for its slowest chip."""

    stage: int
    speed: float
    """Of that chip's kernels, over those of the others."""


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
