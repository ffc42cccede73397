"""How far one step may be off, by what nobody prices of it and by which software ran on how many chips."""

from dataclasses import replace
from math import exp, hypot, log

import pytest

from volvelle import Catalogue
from volvelle.catalogue.training_errors import training_errors
from volvelle.estimators.question_error import step_error
from volvelle.estimators.step_errors import SIZE, StepError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import TrainingStep


def test_what_nothing_prices_widens_a_step_by_what_runs_of_such_models_are_off() -> None:
    cluster, layout = Catalogue().cluster("dgx-h100/64", stack="nemo"), ParallelMapping(data=64, expert=8)
    shape = Catalogue().model("gpt-oss-20b")
    with_sinks, plain = (
        step_error(cluster, TrainingStep(model=transformer(one), batch=512), layout)
        for one in (shape, replace(shape, sinks=False))
    )
    assert with_sinks.factor is not None
    assert plain.factor is not None
    assert with_sinks.unpriced == ("attention sinks",)
    assert not plain.unpriced
    assert log(with_sinks.factor) == pytest.approx(hypot(log(plain.factor), log(training_errors().unpriced)))


def test_a_step_leaves_by_its_size_if_its_own_software_never_ran_so_large() -> None:
    step = TrainingStep(model=transformer(Catalogue().model("gpt3-175b")), batch=1536, element="fp16")
    layout = ParallelMapping(tensor=8, pipeline=8, data=16)
    left = {
        stack: step_error(Catalogue().cluster("dgx-a100/1024", stack=stack), step, layout).left
        for stack in ("megatron-lm", "megatron-deepspeed")
    }
    assert SIZE not in left["megatron-lm"]
    assert left["megatron-deepspeed"][SIZE] > 0.0


def test_what_nothing_prices_widens_also_where_nothing_was_measured() -> None:
    cluster = Catalogue().cluster("mi300x-cluster/64", stack="nemo")
    step = TrainingStep(model=transformer(Catalogue().model("gpt-oss-20b")), batch=512)
    error = step_error(cluster, step, ParallelMapping(data=64, expert=8))
    assert error.unpriced == ("attention sinks",)
    plain = replace(error, unpriced=(), unpriced_error=0.0)
    assert error.or_else(1.35) > plain.or_else(1.35)


def test_runs_of_ones_own_tell_what_nothing_prices_only_if_they_had_it() -> None:
    own = StepError(factor=1.1, own=True)
    assert own.having(("attention sinks",), 1.25).factor == pytest.approx(exp(hypot(log(1.1), log(1.25))))
    assert replace(own, told=("attention sinks",)).having(("attention sinks",), 1.25).factor == 1.1


def test_a_step_may_take_longer_than_is_said_by_more_than_less() -> None:
    cluster = Catalogue().cluster("dgx-h100/64", stack="nemo")
    step = TrainingStep(model=transformer(Catalogue().model("llama3-8b")), batch=512)
    estimate = UnderUncertainty(estimator=ClosedForm()).estimate(step, cluster, ParallelMapping(data=64))
    told, found = step_error(cluster, step, ParallelMapping(data=64)), estimate.ranges["time"]
    assert told.tilt == training_errors().tilt > 0.0
    above, below = log(found.high / estimate.time), log(estimate.time / found.low)
    assert 1.05 < above / below < 1.05 * exp(2.0 * told.tilt), "doubt of inputs has no side"
