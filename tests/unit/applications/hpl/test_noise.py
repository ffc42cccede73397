"""Runs of High-Performance Linpack with noise in every panel."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from volvelle import Catalogue
from volvelle.applications.hpl.application import HPL
from volvelle.applications.hpl.constants import hpl_constants
from volvelle.applications.hpl.noise import NoisyRuns, noisy_runs
from volvelle.applications.hpl.panels import PanelByPanel, exposed_of
from volvelle.applications.hpl.questions import PlanHpl
from volvelle.cli import _volvelle
from volvelle.errors import DescriptionError
from volvelle.laws.hpl.panels import noisy_time
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.workload.families.hpl import Hpl

CLUSTER = Catalogue().cluster("dgx-a100/64")
MODEL = PanelByPanel(constants=hpl_constants("ampere"))
RUN, GRID = Hpl(name="run", order=650_000, block=1024), ProcessGrid.for_nodes(8, 8, node=8)


def drawn(noise: float, machine: float = 0.0) -> NoisyRuns:
    return noisy_runs(MODEL, RUN, CLUSTER, GRID, noise=noise, machine=machine)


def test_noise_leaves_the_mean_of_a_time_where_it_was() -> None:
    draws = np.random.default_rng(1).standard_normal(200_000)
    assert np.mean(noisy_time(2.0, draws, spread=0.3)) == pytest.approx(2.0, rel=0.005)
    assert noisy_time(2.0, 1.0, spread=0.0) == 2.0


@pytest.mark.parametrize("depth", [0, 1])
def test_without_noise_every_run_is_the_estimate(depth: int) -> None:
    grid = ProcessGrid.for_nodes(8, 8, node=8, depth=depth)
    found = noisy_runs(MODEL, RUN, CLUSTER, grid, noise=0.0, machine=0.0, runs=3)
    assert found.quiet == pytest.approx(MODEL.estimate(RUN, CLUSTER, grid).rate)
    assert found.rates["panels"] == pytest.approx(found.quiet)


def test_noise_of_panels_averages_out_and_that_of_the_machine_does_not() -> None:
    found = drawn(0.05, 0.02)
    panels, machine, model = (rates.std() / rates.mean() for rates in found.rates.values())
    assert panels < 0.05 / 5
    assert machine == pytest.approx(0.02, rel=0.35)
    assert model > machine


def test_noise_exposes_what_would_just_hide() -> None:
    """A panel that takes as long as the update before it hides without noise; half of the time with it not."""
    draws, even = np.random.default_rng(2).standard_normal((2, 10_000)), np.ones(10_000)
    parts = dict.fromkeys(("host memory", "panel broadcast", "row swap", "staging"), 0.0 * even)
    quiet = {**parts, "update": even, "panel factorisation": even}
    noisy = {**parts}
    for name, draw in zip(("update", "panel factorisation"), draws, strict=True):
        noisy[name] = np.asarray(noisy_time(even, draw, spread=0.2))
    assert exposed_of(quiet, GRID, MODEL.constants).mean() == 1.0
    assert exposed_of(noisy, GRID, MODEL.constants).mean() == pytest.approx(1 + 0.2 / np.sqrt(np.pi), rel=0.02)


def test_many_panels_are_drawn_together_with_the_deviation_of_their_sum() -> None:
    thin = noisy_runs(MODEL, Hpl(name="thin", order=650_000, block=64), CLUSTER, GRID, noise=0.2, machine=0.0, runs=60)
    assert 0.0 < thin.rates["panels"].std() / thin.rates["panels"].mean() < 0.2 / 30


def test_the_distribution_is_told_and_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "noise.svg"
    words = [
        "plan",
        "hpl",
        "--on",
        "dgx-a100/16",
        "--nb",
        "1024",
        "--noise",
        "0.05",
        "--figure",
        str(picture),
        "--json",
    ]
    done = CliRunner().invoke(_volvelle, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["noise"]
    assert told["panels"]["quantiles"]["0.1"] < told["panels"]["mean"] < told["panels"]["quantiles"]["0.9"]
    assert picture.read_text("utf-8").startswith("<svg")


def test_noise_is_refused_where_no_panels_are_followed() -> None:
    with pytest.raises(DescriptionError, match="--noise is drawn for every panel"):
        HPL.space(CLUSTER, Catalogue(), PlanHpl(on=CLUSTER, method="layered", noise=0.1))
