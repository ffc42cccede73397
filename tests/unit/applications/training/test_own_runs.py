"""What published runs leave open of a machine's constants, and what own runs make of it."""

from functools import cache

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.own_runs import Corpus, fit_own, own_spreads
from volvelle.applications.training.own_runs_scores import published_corpus
from volvelle.applications.training.stack_fit import runs_of
from volvelle.catalogue.own_spread import OwnScatter, own_runs_spread, spread_of, typical_slopes
from volvelle.estimators.factored import CONSTANTS, NETWORK

SCATTER = OwnScatter(scatter=0.05, shape=0.06, reach=2.0, freedom=2.0)
FEW = ("internevo", "nemo-24.07", "mlperf-gpt3-v3.1", "moe-folding-t3", "megatron-sc21-table1")


@cache
def few() -> Corpus:
    rows = [row for row in training_measurements().rows if row.head.group in FEW and row.head.split == "calibration"]
    return Corpus(runs_of(rows, Catalogue()))


def test_what_was_never_run_is_less_sure_than_what_was() -> None:
    seen, unseen = few().spread("nemo", "hopper", "fp8"), few().spread("nemo", "cdna", "fp8")
    assert np.all(np.diag(unseen) >= np.diag(seen) - 1e-12)
    assert unseen[0, 0] > 4 * seen[0, 0]


def test_a_source_that_is_left_out_leaves_its_software_open() -> None:
    with_it = few().spread("internevo", "ampere", "bf16")
    without = few().spread("internevo", "ampere", "bf16", without="internevo")
    assert without[0, 0] > 2 * with_it[0, 0]


def test_constants_that_are_held_are_as_open_as_runs_leave_them() -> None:
    """They were fitted to such runs, if not by this fit."""
    near, far = few().spread("megatron-lm", "ampere", "fp16"), few().spread("megatron-lm", "xe-hpc", "fp16")
    assert 0.0 < near[0, 0] < far[0, 0]


def test_runs_that_agree_are_followed_and_runs_that_do_not_are_not() -> None:
    prior = 0.04 * np.eye(len(CONSTANTS))
    slopes = np.zeros((3, len(CONSTANTS)))
    slopes[:, 0] = -1.0
    same = np.zeros((3, 3))
    torn = fit_own(slopes, np.array([0.2, -0.2, 0.01]), same, prior=prior, spread=SCATTER)
    sure = fit_own(slopes, np.array([0.2, 0.21, 0.19]), same, prior=prior, spread=SCATTER)
    assert abs(torn.change[0]) < 0.03
    assert sure.change[0] < -0.14
    assert torn.told.error(slopes, same)[0] > 1.5 * sure.told.error(slopes, same)[0]


def test_runs_that_wait_for_the_network_tell_how_slow_it_is_and_scatter_more() -> None:
    prior = np.zeros((len(CONSTANTS), len(CONSTANTS)))
    prior[-1, -1] = 0.2**2
    slopes = np.zeros((3, len(CONSTANTS)))
    slopes[:, CONSTANTS.index(NETWORK)] = 0.5
    shapes = np.zeros((3, 3))
    known = SCATTER.model_copy(update={"network": 0.2})
    sure, unsure = (
        fit_own(slopes, np.full(3, 0.15), shapes, prior=prior, spread=spread) for spread in (SCATTER, known)
    )
    assert 0.3 > sure.change[-1] > unsure.change[-1] > 0.05
    one, other = (fit.told.error(slopes, shapes)[0] for fit in (sure, unsure))
    assert other > 1.3 * one
    idle = np.zeros((1, len(CONSTANTS)))
    assert unsure.told.by_itself(idle)[0] < unsure.told.by_itself(slopes)[0]


def test_a_shape_that_was_run_is_surer_than_one_that_was_not() -> None:
    prior = 0.0004 * np.eye(len(CONSTANTS))
    slopes = np.zeros((2, len(CONSTANTS)))
    slopes[:, 0] = -1.0
    run, other = np.full((2, 3), 10.0), np.full((2, 3), 20.0)
    fit = fit_own(slopes, np.array([0.1, 0.11]), run, prior=prior, spread=SCATTER)
    assert fit.told.error(slopes, run)[0] < 0.8 * fit.told.error(slopes, other)[0]
    assert fit.told.shapes.told(run).shift[0] > 0.03
    assert abs(fit.told.shapes.told(other).shift[0]) < 1e-3


def test_a_run_in_doubt_is_followed_less() -> None:
    prior = 0.01 * np.eye(len(CONSTANTS))
    slopes = np.zeros((1, len(CONSTANTS)))
    slopes[:, 0] = -1.0
    one = {"prior": prior, "spread": SCATTER}
    sure = fit_own(slopes, np.array([0.2]), np.zeros((1, 3)), doubts=np.ones(1), **one)
    unsure = fit_own(slopes, np.array([0.2]), np.zeros((1, 3)), doubts=np.full(1, 3.0), **one)
    assert abs(unsure.change[0]) < 0.7 * abs(sure.change[0])
    assert unsure.told.shapes.told(np.zeros((1, 3))).shift[0] < sure.told.shapes.told(np.zeros((1, 3))).shift[0]


def test_shipped_spreads_are_covariances() -> None:
    for stack in ("nemo", "fsdp", "megatron-lm"):
        for family, element in (("hopper", "bf16"), ("ampere", "int8"), ("nobody's", "bf16")):
            spread = spread_of(stack, family, element)
            assert spread.shape == (len(CONSTANTS), len(CONSTANTS))
            assert np.linalg.eigvalsh(spread).min() > -1e-6
    assert np.linalg.eigvalsh(typical_slopes("hopper")).min() > -1e-6


@pytest.mark.long
def test_shipped_spreads_are_those_of_calibration_runs() -> None:
    whole = published_corpus(Catalogue())
    kept = [run for run, fitted in zip(whole.runs, whole.calibration, strict=True) if fitted]
    corpus, shipped = Corpus(kept), own_runs_spread()
    known = OwnScatter(**{name: getattr(shipped, name) for name in OwnScatter.model_fields if name != "stretch"})
    assert (shipped.share, known) in own_spreads(corpus)
    for stack, family, element in (
        ("nemo", "hopper", "bf16"),
        ("fsdp", "ampere", "bf16"),
        ("internevo", "ampere", "bf16"),
    ):
        found = corpus.spread(stack, family, element, share=shipped.share)
        assert found == pytest.approx(spread_of(stack, family, element), rel=1e-3, abs=1e-8)
