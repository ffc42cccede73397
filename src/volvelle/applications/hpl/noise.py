"""High-Performance Linpack with noise: every panel's computation and communication drawn anew, many runs of it."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from volvelle.applications.distribution import QUANTILES, rate_curves, told
from volvelle.applications.hpl.panels import Column, PanelByPanel, exposed_of
from volvelle.applications.scores import Finding, PlannedCurves
from volvelle.laws.hpl.closed_form import hpl_work
from volvelle.laws.hpl.panels import noisy_time
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import FLOP_PER_SECOND, percent, show
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

RUNS = 200
"""Runs that are drawn."""
_DRAWN = 8000
"""Panels that are drawn each by itself."""
_SEED = 20210601


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyRuns:
    """Rates of many runs, with what varies added one upon the other."""

    quiet: float
    """FLOP/s without noise."""
    rates: dict[str, Column]
    """FLOP/s of each run, by what varies."""


def noisy_runs(
    model: PanelByPanel,
    problem: Hpl,
    cluster: Cluster,
    grid: ProcessGrid,
    *,
    noise: float,
    machine: float,
    runs: int = RUNS,
) -> NoisyRuns:
    """Draw runs: noise of each panel, then the machine's rates as well, then the model's own error as well.

    `noise` and `machine` are standard deviations of logarithms. A panel's computation and its communication vary apart;
    products and links of one run vary together for all of its panels.
    """
    groups, lines = model.steps(problem, cluster, grid)
    # Beyond so many, neighbours that are alike are drawn together, with the smaller deviation of their sum.
    together = ceil(float(groups.count.sum()) / _DRAWN)
    drawn_of = np.ceil(groups.count / together).astype(int)
    weight = np.repeat(groups.count / drawn_of, drawn_of)
    own_spread = noise / np.sqrt(weight)
    whole: dict[str, Column] = {line.name: np.repeat(line.shown + line.hidden, drawn_of) * weight for line in lines}
    generator = np.random.default_rng(_SEED)
    quiet = float(hpl_work(float(problem.order))) / float(exposed_of(whole, grid, model.constants).sum())
    panels = len(whole["update"])
    times = np.empty((2, runs))
    for run in range(runs):
        own = generator.standard_normal((2, panels))
        both = generator.standard_normal(2)
        for place, spread in enumerate((0.0, machine)):
            drawn: dict[str, Column] = {}
            for name, seconds in whole.items():
                kind = int(name not in ("update", "panel factorisation"))
                alone = noisy_time(seconds, own[kind], spread=own_spread)
                drawn[name] = np.asarray(noisy_time(alone, float(both[kind]), spread=spread))
            times[place, run] = float(exposed_of(drawn, grid, model.constants).sum())
    work = float(hpl_work(float(problem.order)))
    error = model.constants.doubt.sample(generator, runs)
    return NoisyRuns(
        quiet=quiet,
        rates={
            "panels": work / times[0],
            "and the machine": work / times[1],
            "and the model": work / times[1] / error,
        },
    )


def noise_finding(found: NoisyRuns) -> Finding:
    """Mean, spread and quantiles of each."""
    return Finding(
        key="noise",
        value={
            "quiet": found.quiet,
            **{name: told(rates) for name, rates in found.rates.items()},
        },
        title=(
            f"{len(next(iter(found.rates.values())))} runs with noise: shares of them against "
            f"{show(found.quiet, FLOP_PER_SECOND)} without"
        ),
        words=("what varies",),
        numbers=("mean", "deviation", *(percent(at, 0) for at in QUANTILES)),
        cells=tuple(
            (
                name,
                show(float(rates.mean()), FLOP_PER_SECOND),
                percent(float(rates.std() / rates.mean()), 2),
                *(percent(float(np.quantile(rates, at)) / found.quiet - 1, 1, signed=True) for at in QUANTILES),
            )
            for name, rates in found.rates.items()
        ),
    )


def noise_curves(found: NoisyRuns, cluster: Cluster) -> PlannedCurves:
    """The distribution of the rate, as the share of runs in each of some steps, a line for what varies."""
    return rate_curves(
        found.rates,
        found.quiet,
        title=f"HPL on {cluster.name}: runs by their rate",
        about="How many of the drawn runs have which rate, by what varies.",
        without=", the run without noise",
        counted="runs",
    )
