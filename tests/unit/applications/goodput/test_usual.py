"""Bills that agree."""

import pytest

import volvelle
from volvelle.applications.goodput.usual import usual_ettr
from volvelle.quantities import DAY

ASKED = {"on": "dgx-h100/64", "batch": 512, "tensor": 8, "tokens": "1T"}


def test_estimate_cost_and_job_have_one_ratio() -> None:
    answer, job = volvelle.estimate("llama3-8b", **ASKED), volvelle.job("llama3-8b", **ASKED)
    assert answer.run is not None
    assert answer.run.ettr == pytest.approx(job.run.ettr.value, rel=1e-9)
    account = volvelle.cost(
        on="dgx-h100/64", step=answer.estimate.time, tokens_per_step=float(answer.estimate.tokens), tokens="1T"
    )
    assert account.typical.interrupted_days == pytest.approx(job.run.wall / DAY, rel=1e-9)


def test_estimate_cost_and_job_have_one_power() -> None:
    answer, job = volvelle.estimate("llama3-8b", **ASKED), volvelle.job("llama3-8b", **ASKED)
    assert job.run.plan.power is not None
    whole = job.run.plan.power.training * job.run.plan.power.pue * 64
    assert answer.costs.power == pytest.approx(whole)
    parts = volvelle.cost(on="dgx-h100/64").typical.breakdown.power_by_part
    assert (parts["accelerators"] + parts["hosts"]) / 64 == pytest.approx(job.run.plan.power.training)


def test_more_accelerators_train_less_of_the_time() -> None:
    catalogue = volvelle.Catalogue()
    ratios = [usual_ettr(catalogue.cluster(f"dgx-h100/{count}"), 60 * DAY) for count in (64, 1024, 16384)]
    assert ratios == sorted(ratios, reverse=True)
