"""The talk's HPCG under uncertainty: a product of factors, each a distribution, and what one smaller run makes of ours.

Of its distributions the talk prints one mean, 0.201 FLOP a byte; that of its result tells the product of the others.
Means of streaming and scaling are the catalogue's here, that of HPCG over streaming is what is left, and all spread as
the catalogue says.
"""

from collections.abc import Mapping
from math import exp, log

import numpy as np

from volvelle.applications.hpcg.constants import hpcg_factors
from volvelle.applications.hpcg.estimator import HpcgFactors, HpcgModel
from volvelle.applications.hpcg.own_runs import own_factors
from volvelle.applications.hpcg.plan import hpcg_layout
from volvelle.catalogue import Catalogue
from volvelle.catalogue.published.pitfalls import PrintedRate
from volvelle.estimators.sampler import Column
from volvelle.estimators.sobol_points import ScrambledSobol
from volvelle.interchange.logs.logged import Log, LoggedGradients
from volvelle.laws.hpcg import hpcg_rate, hpcg_scaling_efficiency
from volvelle.reproductions.item import Document, Item, Number, sheet_of
from volvelle.spread import AbstractSpread, LogNormal, standard_normal
from volvelle.system.cluster import Cluster

SAMPLES = 2**14
_LEVEL = 0.8
_TERA = 1e12
_SMALLER = 6
"""Devices of the smaller run: one node."""
_ONE_RUN = "and a run on one node"


def talk_factors(cluster: Cluster, printed: PrintedRate, factors: HpcgFactors) -> dict[str, LogNormal]:
    """Independent log-normal factors whose means multiply to the mean that the talk prints."""
    nodes = hpcg_layout(cluster, factors).nodes
    scaling = float(hpcg_scaling_efficiency(nodes, step=factors.step.value, doubling=factors.doubling.value))
    lost = factors.doubling.bounds(_LEVEL)
    ends = [float(hpcg_scaling_efficiency(nodes, step=factors.step.value, doubling=end)) for end in lost]
    unit = cluster.accelerators * float(np.max(cluster.chip.memory.rate)) * factors.intensity.value
    streaming = factors.streaming.value
    means = {
        "intensity": (factors.intensity.value, _deviation(factors.intensity.bounds(_LEVEL))),
        "streaming": (streaming, _deviation(factors.streaming.bounds(_LEVEL))),
        "solver": (printed.rate.model / (unit * streaming * scaling), _deviation(factors.solver.bounds(_LEVEL))),
        "scaling": (scaling, _deviation((min(ends), max(ends)))),
    }
    return {
        # The mean of a log-normal factor lies above its middle.
        name: LogNormal(mean / exp(deviation**2 / 2.0), exp(deviation))
        for name, (mean, deviation) in means.items()
    }


def _deviation(ends: tuple[float, float]) -> float:
    """Of the logarithm, from the ends of a range."""
    reach = float(standard_normal(np.array([0.5 + _LEVEL / 2.0]))[0])
    return log(ends[1] / ends[0]) / (2.0 * reach)


def drawn_rates(cluster: Cluster, spreads: Mapping[str, AbstractSpread], *, samples: int = SAMPLES) -> Column:
    """Rates of the run on samples of all factors."""
    sampler = ScrambledSobol(samples)
    drawn = {name: spread.at(sampler.column(f"HPCG-UQ: {name}")) for name, spread in spreads.items()}
    return np.asarray(hpcg_rate(cluster.accelerators, memory_rate=cluster.chip.memory.rate, **drawn))


def hpcg_uq_item(printed: PrintedRate, catalogue: Catalogue) -> Item:
    """The talk's mean by its own law, our range without a run on such devices, and with one smaller run."""
    cluster = catalogue.cluster(f"aurora/{printed.devices}")
    factors = hpcg_factors(catalogue.chip_file(cluster.chip.name).family)
    spreads = talk_factors(cluster, printed, factors)
    rates = drawn_rates(cluster, spreads)
    layout = hpcg_layout(cluster, factors)
    ours = {
        "this package, nothing like it fitted": HpcgModel(factors=factors),
        _ONE_RUN: HpcgModel(factors=_with_one_run(factors, catalogue)),
    }
    rows = [_row("the talk's product, Sobol samples", rates, float(rates.mean()), printed)]
    rows += [
        _row(name, model.drawn_rates(cluster, layout), float(model.rate(cluster, layout)), printed)
        for name, model in ours.items()
    ]
    product = float(np.prod([_mean(spreads[name]) for name in ("streaming", "solver", "scaling")]))
    document: Document = {"devices": printed.devices, "samples": SAMPLES, "efficiencies": product, "rows": rows}
    return Item(
        name="hpcg-uq",
        title=f"HPCG under uncertainty, {printed.devices:,} modules of Aurora",
        lead=(
            f"Efficiencies of streaming, HPCG and scaling multiply to {product:.4f} in the mean, because the talk's "
            "result has the mean that it prints; how they share it is not printed. The run on one node is one that "
            "this package would predict: what it shows is how much a run narrows the range, not where it ends."
        ),
        sheets=(
            sheet_of(
                "Rates, TFLOP/s",
                rows,
                {
                    "by": "by",
                    "here": Number("rate", ".6g", _TERA),
                    "low": Number("low", ".4g", _TERA),
                    "high": Number("high", ".4g", _TERA),
                    "± half": Number("half_width", "1%"),
                    "to talk": Number("to_talk", "+3%"),
                    "holds the run": "holds_the_run",
                },
            ),
        ),
        document=document,
    )


def _mean(spread: LogNormal) -> float:
    return spread.median * exp(log(spread.factor) ** 2 / 2.0)


def _with_one_run(factors: HpcgFactors, catalogue: Catalogue) -> HpcgFactors:
    machine = catalogue.cluster(f"aurora/{_SMALLER}")
    rate = float(HpcgModel(factors=factors).rate(machine, hpcg_layout(machine, factors)))
    run = LoggedGradients(line=1, ranks=_SMALLER, grid=None, flop_rate=rate)
    log_file = Log(file="one node", tool="hpcg", digest="", gradients=(run,))
    return own_factors(factors, log_file, machine=lambda devices: catalogue.cluster(f"aurora/{devices}"))


def _row(by: str, rates: Column, rate: float, printed: PrintedRate) -> dict[str, object]:
    low, high = (float(end) for end in np.quantile(rates, [0.5 - _LEVEL / 2.0, 0.5 + _LEVEL / 2.0]))
    return {
        "by": by,
        "rate": rate,
        "low": low,
        "high": high,
        "half_width": (high - low) / (2.0 * rate),
        "to_talk": rate / printed.rate.model - 1.0,
        "holds_the_run": "–" if by == _ONE_RUN else "yes" if low <= printed.rate.run <= high else "no",
    }
