"""Questions that leave what was measured in two ways at once: refused where ranges are wide, or asked anyway."""

from volvelle.errors import OutsideDomainError
from volvelle.estimators.calibration import calibrations_of
from volvelle.estimators.question_error import step_error
from volvelle.estimators.result import Range
from volvelle.estimators.step_errors import CHIP, KIND, PRECISION, SIZE, SOFTWARE, StepErrors
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

WIDEST = 2.0
"""How many times its lower end the upper end of a range may be, where a question leaves in two ways."""
_TWO = 2


def outside_calibration(step: TrainingStep, cluster: Cluster, mapping: ParallelMapping) -> dict[str, str]:
    """Ways in which a question leaves what calibration runs tell of → what would bring it back."""
    error = step_error(cluster, step, mapping)
    if error.own:
        return dict.fromkeys(error.left, "runs of your own that are like it")
    return {} if error.of is None else {way: _back(way, error.of, cluster) for way in error.left}


def refuse_outside(
    step: TrainingStep, cluster: Cluster, mapping: ParallelMapping, span: Range | None, *, anyway: bool
) -> None:
    """Refuse a step that leaves in two ways at once and whose range is wider than a factor of two.

    Not where it is asked `anyway`, nor of a machine whose rates are all stated with spreads: who states them knows that
    nobody ran on it.
    """
    if anyway or span is None or span.high <= WIDEST * span.low or in_doubt_of_its_own(step, cluster):
        return
    left = outside_calibration(step, cluster, mapping)
    if len(left) < _TWO:
        return
    ways = "; ".join(f"{way}: {back}" for way, back in left.items())
    raise OutsideDomainError(
        f"no calibration run is like {step.model.name!r} on {cluster.name!r} in {' and '.join(left)}, and the "
        f"{100 * span.level:.0f} % range would be a factor of {span.high / span.low:.1f} wide; any of these brings the "
        f"question back ({ways}), and so do runs of your own (volvelle calibrate from); --anyway "
        "answers with the wide range"
    )


def in_doubt_of_its_own(step: TrainingStep, cluster: Cluster) -> bool:
    """Whether the rates of products, memory and links that a step rests on are all stated with a spread."""
    chip = cluster.chip
    rates = [chip.figures.get(f"matrix_rates.{step.element}"), chip.figures.get("memories.0.rate")]
    rates += [level.link.figures.get("rate") for level in cluster.dimensions if level.size > 1]
    return all(rate is not None and rate.spread is not None for rate in rates)


def _back(way: str, errors: StepErrors, cluster: Cluster) -> str:
    """What would bring a question back that leaves in a way."""
    near = [runs for runs in errors.timed if runs.family == cluster.chip.family] or list(errors.timed)
    return {
        CHIP: f"chips of {_listed({runs.family for runs in errors.timed})}",
        SOFTWARE: f"--stack {_listed({runs.stack for runs in near if runs.stack})}"
        + (f", not {calibrations_of(cluster).stack}" if calibrations_of(cluster).stack else ""),
        PRECISION: f"--element {_listed({runs.element for runs in near})}",
        KIND: "a dense model" if all(not runs.mixture for runs in near) else "a mixture of experts",
        SIZE: f"at most {errors.largest(cluster.chip.family, calibrations_of(cluster).stack):,} chips",
    }[way]


def _listed(names: set[str]) -> str:
    *rest, last = sorted(names)
    return f"{', '.join(rest)} or {last}" if rest else last
