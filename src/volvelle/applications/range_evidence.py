"""What the range of a plan rests on: runs that the model's error was found by, or why there are none, and its grade."""

from dataclasses import dataclass, replace
from math import log

from volvelle.catalogue.model_errors import LEVEL, ModelErrorRegime, all_of_regime, model_error
from volvelle.spread import Figure, model_reach
from volvelle.system.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeEvidence:
    """What a range rests on."""

    weakest_evidence: str
    """Grade of the weakest number of the machine that figures rest on."""
    model_error: ModelErrorRegime | None = None
    """Calibration runs that their fit did not see; None: none tells, or runs of one's own do."""
    groups: str = "publications"
    """What was left out of the fit at a time: `sources` counts them."""
    regime_words: str = ""
    """Whose runs these are where they are of no one regime; empty: of all that are like the question."""
    own_runs: str = ""
    """What runs of one's own say; empty: there are none."""
    unmeasured: str = ""
    """Where no run tells: what the range is as wide as instead."""

    @property
    def words(self) -> str:
        """In a sentence."""
        weakest = f"the weakest number of the machine is {self.weakest_evidence}"
        if self.own_runs:
            return f"the range rests on runs of one's own; {weakest}"
        told = self.model_error
        if told is None:
            return f"no calibration run tells how far the model is off here: {self.unmeasured}; {weakest}"
        regime = told.regime or self.regime_words
        whose = f" ({regime})" if regime else ""
        pooled = f", pooled with all {told.pooled_rows:,}" if told.pooled_rows else ""
        unlike = f" and on what leaving them by {' and '.join(told.axes)} adds" if told.axes else ""
        return (
            f"the range rests on {told.rows:,} calibration runs{whose} of {told.sources} {self.groups}, each left "
            f"out of the fit in turn{pooled}{unlike}; {weakest}"
        )


def error_told_by(
    application: str, factor: float, *, regime: str = "", axes: tuple[str, ...] = (), pooled: bool = False
) -> ModelErrorRegime | None:
    """Runs behind an error that is stated as a factor, found by these left out of the fit; None: there are none.

    With `pooled` those of all regimes above stand behind it too.
    """
    found = model_error(application, regime) if pooled else all_of_regime(application, regime)
    return None if found is None else replace(found, axes=axes, reach=log(factor) * model_reach(LEVEL))


def machine_evidence(cluster: Cluster) -> str:
    """Grade of the weakest number of a machine: its memory, and links that something goes over."""
    chip = cluster.chip.figures
    figures = [chip.get("memories.0.rate"), chip.get("memories.0.capacity")]
    for dimension in cluster.dimensions:
        if dimension.size > 1:
            figures += [dimension.link.figures.get(name) for name in ("rate", "efficiency", "latency")]
    return Figure.weakest(*(figure for figure in figures if figure is not None)).word
