"""What COMET's text prints, beside ours, with a verdict for each: computed, never stated.

A number is reproduced within 15 %. A change of run time, such as +50 %, is compared as a ratio of run times, 1.50;
strictly, the change itself has to be within 15 % too. An order or a break-even has to hold exactly.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from volvelle.catalogue.published.comet import Comet, CometTarget
from volvelle.laws.hybrid_memory import hybrid_memory_rate
from volvelle.quantities import percent
from volvelle.reproductions.comet.figures import (
    BASELINE,
    BEST,
    GIGA,
    Sweep,
    expanded_memory,
    scaled_compute,
    scaled_network,
    strategies,
)
from volvelle.reproductions.comet.training import OURS, PHASES, READINGS, Reading, model_states

WITHIN = 0.15
"""Relative error up to which a number counts as reproduced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One of our figures; `holds` where what is stated is an order, not a value."""

    value: float
    holds: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A target beside ours."""

    target: CometTarget
    ours: float
    holds: bool
    """By its own rule alone."""
    ordered: bool = True
    """Whether two printed numbers that go together come out in the printed order."""

    @property
    def reproduced(self) -> bool:
        """By the rule and in order."""
        return self.holds and self.ordered

    @property
    def strictly(self) -> bool:
        """Likewise, with changes compared as changes."""
        return self.reproduced and (self.change_error is None or abs(self.change_error) <= WITHIN)

    @property
    def error(self) -> float | None:
        """Relative to the printed value, where one is printed that ours should equal."""
        if self.target.rule != "near" or self.target.value is None:
            return None
        return self.ours / self.target.value - 1.0

    @property
    def change_error(self) -> float | None:
        """Of the change itself, relative to the printed change."""
        if self.error is None or not self.target.change or self.target.value is None:
            return None
        return (self.ours - 1.0) / (self.target.value - 1.0) - 1.0

    @property
    def why(self) -> str:
        """What differs and, as far as we know, why; empty where it is reproduced strictly."""
        if self.strictly:
            return ""
        said = []
        if self.error is not None and not self.holds:
            said.append(f"{percent(abs(self.error), 0)} from the printed value.")
        if self.holds and self.change_error is not None and abs(self.change_error) > WITHIN:
            said.append(
                f"The run time is {percent(abs(self.error or 0.0), 0)} from the printed one, the change itself "
                f"{percent(abs(self.change_error), 0)} from the printed change."
            )
        if not self.ordered:
            said.append("The printed pair has the other order.")
        return " ".join([*said, self.target.remark]).strip()


def compared_words(target: CometTarget) -> str:
    """What is held against what, in words."""
    if target.rule == "order":
        return f"order: {target.stated}"
    if target.rule == "near":
        what = "ratio of run times" if target.change else "value"
        pair = ", and the order of the printed pair" if target.more_than or target.less_than else ""
        return f"{what} within {percent(WITHIN, 0)} of {target.value:g}{pair}"
    return f"{target.rule} {target.value:g}"


def verdicts(
    data: Comet, targets: Iterable[CometTarget] | None = None, *, reading: Reading = OURS
) -> tuple[Verdict, ...]:
    """Every target with what we find."""
    found = measures(data, reading=reading)
    return tuple(_verdict(target, found) for target in (data.targets if targets is None else targets))


def verdicts_by_reading(data: Comet) -> dict[str, tuple[Verdict, ...]]:
    """The same under other readings of what the paper leaves open."""
    return {reading.name: verdicts(data, reading=reading) for reading in READINGS}


def _verdict(target: CometTarget, found: dict[str, Found]) -> Verdict:
    ours = found[target.measure]
    value = target.value
    if target.rule == "order":
        assert ours.holds is not None, f"{target.measure} is held against an order and has none"
        return Verdict(target=target, ours=ours.value, holds=ours.holds)
    assert value is not None, f"{target.name} states no value"
    rules: dict[str, Callable[[float], bool]] = {
        "near": lambda x: abs(x / value - 1.0) <= WITHIN,
        "equal": lambda x: abs(x - value) < 1e-9,
        "at most": lambda x: x <= value,
        "above": lambda x: x > value,
        "below": lambda x: x < value,
    }
    return Verdict(
        target=target,
        ours=ours.value,
        holds=rules[target.rule](ours.value),
        ordered=(not target.more_than or ours.value > found[target.more_than].value)
        and (not target.less_than or ours.value < found[target.less_than].value),
    )


def measures(data: Comet, *, reading: Reading = OURS) -> dict[str, Found]:
    """All figures that stand beside something printed."""
    dgx = strategies(data, "dgx-a100", reading=reading)
    base = dgx.at("seconds_per_sample", mp=BASELINE)
    return {
        name: one if isinstance(one, Found) else Found(value=float(one))
        for found in (
            _on_dgx(data, dgx),
            _with_expanded_memory(data, reading),
            _with_other_compute(data, reading),
            _with_other_networks(data, reading),
            _on_other_clusters(data, reading, base),
            _of_the_text(data, dgx),
        )
        for name, one in found.items()
    }


def _on_dgx(data: Comet, dgx: Sweep) -> dict[str, Found | float]:
    slower = dgx.at("run_time", mp=BASELINE) / dgx.at("run_time", mp=BEST)
    exposed = dgx.columns["exposed, weight gradient"] * dgx.columns["seconds_per_sample"] / dgx.columns["run_time"]
    return {
        "dgx-best": _best(dgx),
        **{f"dgx-footprint-{mp}": dgx.at("footprint_gb", mp=mp) for mp in (8, 32, 64)},
        "dgx-64-over-8": Found(value=slower, holds=slower > 1.0),
        "dgx-exposed-weight-gradient": float(np.max(exposed * dgx.columns["dp"] * data.model.batch)),
    }


def _best(sweep: Sweep) -> float:
    return float(sweep.columns["mp"][int(np.argmin(sweep.columns["run_time"]))])


def _with_expanded_memory(data: Comet, reading: Reading) -> dict[str, Found | float]:
    swept = expanded_memory(data, reading=reading)
    at = {rate: swept.at("run_time", mp=BEST, expanded_gbs=rate) for rate in (250, 500, 1000, 2039)}
    return {
        "expanded-break-even": _break_even(data, reading),
        "expanded-250": at[250],
        "expanded-500": at[500],
        "expanded-1000": Found(value=at[1000], holds=at[1000] < 1.0 and at[1000] < at[500]),
        "expanded-2039": Found(value=at[2039], holds=at[2039] < 1.0 and at[2039] < at[1000]),
    }


def _break_even(data: Comet, reading: Reading) -> float:
    """GB/s of expanded memory at which MP8_DP128 takes as long as the baseline."""
    swept = expanded_memory(data, tuple(np.arange(100.0, 2040.0, 1.0)), reading=reading, most=BEST)
    rows = swept.where(mp=BEST)
    times, rates = swept.columns["run_time"][rows], swept.columns["expanded_gbs"][rows]
    # Times fall with the rate; `interp` wants them to rise.
    return float(np.interp(1.0, times[::-1], rates[::-1]))


def _with_other_compute(data: Comet, reading: Reading) -> dict[str, Found | float]:
    swept = scaled_compute(data, reading=reading)
    half, double, fourfold = (swept.at("run_time", compute=by, expanded_gbs=2039.0) for by in (0.5, 2.0, 4.0))
    saved = double - fourfold
    return {
        "compute-half": half,
        "compute-double": double,
        "compute-fourfold": Found(value=fourfold, holds=0.0 < saved < 1.0 - double),
    }


def _with_other_networks(data: Comet, reading: Reading) -> dict[str, Found | float]:
    many, few = (scaled_network(data, mp, reading=reading) for mp in (BASELINE, BEST))
    return {
        "inside-half": many.at("run_time", inside=0.5, between=1.0),
        "between-half": many.at("run_time", inside=1.0, between=0.5),
        "inside-double": many.at("run_time", inside=2.0, between=1.0),
        "between-double": many.at("run_time", inside=1.0, between=2.0),
        "both-double": many.at("run_time", inside=2.0, between=2.0),
        "eight-both-half": few.at("run_time", inside=0.5, between=0.5),
        "eight-both-fourfold": few.at("run_time", inside=4.0, between=4.0),
    }


def _on_other_clusters(data: Comet, reading: Reading, base: float) -> dict[str, Found | float]:
    tpu, dojo = (strategies(data, key, reading=reading, base=base) for key in ("tpu-v4", "dojo"))
    fits = dojo.columns["footprint_gb"] <= data.cluster("dojo").memory_capacity / GIGA
    fitting = replace(dojo, columns={name: column[fits] for name, column in dojo.columns.items()})
    # Degrees fall along the columns.
    falling = bool(np.all(np.diff(dojo.columns["run_time"]) < 0.0))
    return {
        "tpu-best": _best(tpu),
        "tpu-256-over-64": tpu.at("run_time", mp=256) / tpu.at("run_time", mp=64),
        **{f"tpu-footprint-{mp}": tpu.at("footprint_gb", mp=mp) for mp in (64, 128, 256)},
        "dojo-best-fitting": _best(fitting),
        "dojo-best": Found(value=_best(dojo), holds=falling),
        "dojo-over-dgx": 1.0 / dojo.at("run_time", mp=8),
    }


def _of_the_text(data: Comet, dgx: Sweep) -> dict[str, Found | float]:
    large, small = (dgx.at("footprint_gb", mp=mp) for mp in (BEST, BASELINE))
    clusters = {key: data.cluster(key) for key in ("dgx-a100", "tpu-v4")}
    capacity = clusters["dgx-a100"].memory_capacity / GIGA
    whole = {key: one.nodes * one.compute_rate for key, one in clusters.items()}
    exposed = sum(dgx.columns[f"exposed, {phase}"] for phase in PHASES) / dgx.columns["run_time"]
    mp, nodes = dgx.columns["mp"], clusters["dgx-a100"].nodes
    states = model_states(data.model, mp, nodes / mp, zero=3)
    return {
        "hybrid-example": float(hybrid_memory_rate(80.0, 160.0, local_rate=2.0, expanded_rate=1.0)),
        "dgx-footprint-8-over-capacity": large / capacity,
        "dgx-footprint-8-over-64": large / small,
        "tpu-aggregate-compute": whole["tpu-v4"] / whole["dgx-a100"],
        "zero-3-spread": float(np.max(states) / np.min(states)),
        **{f"dgx-communication-{int(at)}": float(exposed[dgx.where(mp=at)[0]]) for at in (BASELINE, BEST)},
    }


def target_document(found: Iterable[Verdict]) -> list[dict[str, object]]:
    """What JSON says of them."""
    return [
        {
            "name": one.target.name,
            "section": one.target.section,
            "paper": one.target.paper,
            "paper_value": one.target.value,
            "ours": one.ours,
            "compared": compared_words(one.target),
            "relative_error": one.error,
            "relative_error_of_change": one.change_error,
            "reproduced": one.reproduced,
            "reproduced_strictly": one.strictly,
            "why": one.why,
        }
        for one in found
    ]
