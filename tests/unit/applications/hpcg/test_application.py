"""The talk on pitfalls has HPCG as a product of uncertain factors; so has the package."""

import numpy as np
import pytest

import volvelle
from volvelle.applications.hpcg.application import HPCG
from volvelle.estimators.sobol_points import ScrambledSobol
from volvelle.laws.hpcg import hpcg_rate
from volvelle.spread import LogNormal

DEVICES, INTENSITY, PEAK = 4608, 0.201, 3276.8e9
PREDICTED, MEASURED = 1264.58e12, 1259.94e12
"""On 4608 Ponte Vecchio and 768 nodes of Aurora, FLOP/s, as the talk prints them."""


def test_factors_whose_means_multiply_to_the_talks_have_the_mean_of_the_talk() -> None:
    means = {"streaming": 0.85, "solver": 0.52}
    means["scaling"] = PREDICTED / (DEVICES * INTENSITY * PEAK) / (means["streaming"] * means["solver"])
    sampler = ScrambledSobol(2**14)
    drawn = {}
    for name, factor in (("streaming", 1.03), ("solver", 1.08), ("scaling", 1.05)):
        median = means[name] / np.exp(np.log(factor) ** 2 / 2)  # the mean of a log-normal is above its median
        drawn[name] = LogNormal(median, factor).at(sampler.column(name))
    rates = hpcg_rate(DEVICES, intensity=INTENSITY, memory_rate=PEAK, **drawn)
    assert float(np.mean(rates)) == pytest.approx(PREDICTED, rel=1e-5)


def test_the_range_holds_the_run_of_aurora_that_nothing_was_fitted_to() -> None:
    rows = [row for row in HPCG.rows().rows if "aurora" in row.system.lower()]
    assert {row.head.split for row in rows} <= {"heldout", "heldout_secondary", "excluded"}
    cluster = volvelle.Catalogue().cluster("aurora/4608")
    asked = HPCG.space(cluster, volvelle.Catalogue())
    found = HPCG.planner(asked).rank(asked.candidates, asked.system, top=1).first.rate_range
    assert found is not None
    assert found.low < MEASURED < found.high
