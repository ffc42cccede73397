"""What own runs tell by the shapes of products: every estimator takes it alike, and no bound is above it."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import volvelle
from tests.conftest import ROOT
from volvelle import Catalogue
from volvelle.catalogue.own_calibrations import KeptRuns
from volvelle.catalogue.stacks import software_stack
from volvelle.estimators.calibration import calibrations_of, with_software
from volvelle.estimators.compiled.compiled_form import CompiledClosedForm
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.factored import CONSTANTS, NETWORK, network_shares
from volvelle.estimators.own_shapes import OwnRunsTold, OwnShapes, product_shapes
from volvelle.estimators.question_error import step_error
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.training.constant_slopes import constant_slopes
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.search.least_time import least_times
from volvelle.system.cluster import Cluster
from volvelle.verbs.own_runs.calibrate import calibrate_from
from volvelle.workload.training import TrainingStep

TOLD = OwnRunsTold(
    covariance=0.0004 * np.eye(len(CONSTANTS)),
    scatter=0.03,
    freedom=4.0,
    shapes=OwnShapes(
        shapes=np.log2([[8192.0, 4096.0, 1.0], [2048.0, 4096.0, 8.0]]),
        left=np.array([0.1, -0.15]),
        noise=np.array([0.03, 0.04]),
        slopes=np.array([[share, *[0.0] * (len(CONSTANTS) - 1)] for share in (-0.95, -0.8)]),
        spread=0.08,
        reach=2.0,
    ),
)
MAPPINGS = (
    ParallelMapping(data=16, zero=1),
    ParallelMapping(tensor=8, data=2, zero=1),
    ParallelMapping(tensor=2, pipeline=4, data=2, micro_batch=2, zero=1),
)


def machine(told: OwnRunsTold | None) -> Cluster:
    system = Catalogue().cluster("dgx-h100/16")
    own = {("hopper", "bf16"): 1.1}
    return with_software(
        system,
        replace(software_stack("nemo"), own_errors=own if told else {}, own_runs=(lambda: told) if told else None),
    )


@pytest.fixture(scope="module")
def step() -> TrainingStep:
    return volvelle.estimate("llama3-8b", on="dgx-h100/16", batch=64).step


def test_a_run_slows_steps_of_its_shape_and_one_that_was_fast_speeds_others(step: TrainingStep) -> None:
    before, after = (ClosedForm().table(step, machine(told), MappingTable.of(MAPPINGS)).time for told in (None, TOLD))
    assert 1.04 < after[0] / before[0] < 1.1
    assert 0.9 < after[1] / before[1] < 0.985


def test_one_layout_and_a_table_of_many_and_compiled_code_take_the_same(step: TrainingStep) -> None:
    system, many = machine(TOLD), MappingTable.of(MAPPINGS).take(np.tile(np.arange(3), 200))
    alone = [ClosedForm().estimate(step, system, mapping).time for mapping in MAPPINGS]
    assert ClosedForm().table(step, system, many).time == pytest.approx(np.tile(alone, 200))
    assert CompiledClosedForm().table(step, system, many).time == pytest.approx(np.tile(alone, 200))


def test_a_replay_takes_it_as_the_closed_form_does(step: TrainingStep) -> None:
    for mapping in MAPPINGS:
        closed, event = (
            [estimator.estimate(step, machine(told), mapping).time for told in (None, TOLD)]
            for estimator in (ClosedForm(), EventDriven())
        )
        assert event[1] / event[0] == pytest.approx(closed[1] / closed[0], rel=0.01)


def test_no_layout_goes_below_the_bound_that_a_search_goes_by(step: TrainingStep) -> None:
    table, system = MappingTable.of(MAPPINGS), machine(TOLD)
    assert np.all(least_times(table, step, system) <= ClosedForm().table(step, system, table).time)
    shapes = np.random.default_rng(0).uniform(0.0, 16.0, (500, 3))
    factors = np.exp(TOLD.shapes.told(shapes).shift)
    assert TOLD.shapes.least <= factors.min()
    assert TOLD.shapes.least > 0.8


def test_the_error_of_a_step_is_less_near_own_runs_than_far_from_them(step: TrainingStep) -> None:
    system = machine(TOLD)
    near, far = (step_error(system, step, mapping).factor for mapping in (MAPPINGS[0], MAPPINGS[2]))
    assert near is not None
    assert far is not None
    assert 1.03 < near < far < 1.12
    slopes = constant_slopes(step, system, MappingTable.of(MAPPINGS[:1]))
    shapes = product_shapes(step, MappingTable.of(MAPPINGS[:1]))
    assert near == pytest.approx(float(np.exp(TOLD.error(slopes, shapes)[0])), rel=1e-9)


def test_a_file_keeps_what_was_told() -> None:
    back = KeptRuns.of(TOLD).told(beside=0.05)
    shapes, slopes = np.array([[12.0, 12.0, 0.5]]), np.full((1, len(CONSTANTS)), -0.2)
    assert back.shapes.told(shapes).shift == pytest.approx(TOLD.shapes.told(shapes).shift, rel=1e-4)
    assert back.error(slopes, shapes)[0] == pytest.approx(np.hypot(TOLD.error(slopes, shapes)[0], 0.05), rel=1e-4)


def test_a_file_of_before_the_network_was_told_takes_it_as_known() -> None:
    now, count = KeptRuns.of(TOLD), CONSTANTS.index(NETWORK)
    few = replace(TOLD, covariance=TOLD.covariance[:count, :count])
    shapes = [one.model_copy(update={"slopes": one.slopes[:count]}) for one in now.shapes]
    kept = KeptRuns.of(few).model_copy(update={"shapes": shapes})
    back = KeptRuns(**{name: value for name, value in kept.model_dump().items() if name != "network"}).told(beside=0.0)
    assert back.covariance.shape == (len(CONSTANTS), len(CONSTANTS))
    assert not back.covariance[count].any()
    assert back.network == 0.0
    slopes = np.full((1, len(CONSTANTS)), -0.2)
    without = np.append(slopes[:, :count], np.zeros((1, 1)), axis=1)
    point = np.array([[12.0, 12.0, 0.5]])
    assert back.error(slopes, point)[0] == pytest.approx(TOLD.error(without, point)[0], rel=1e-4)


def slower_network(factor: float) -> Cluster:
    factors = {("hopper", "bf16", NETWORK): factor}
    return with_software(Catalogue().cluster("dgx-h100/16"), replace(software_stack("nemo"), factors=factors))


def test_a_slower_network_slows_what_waits_for_it_alike_in_every_estimator(step: TrainingStep) -> None:
    many = MappingTable.of(MAPPINGS)
    before, after = (ClosedForm().table(step, slower_network(factor), many).time for factor in (1.0, 2.0))
    waits = network_shares(constant_slopes(step, slower_network(1.0), many))
    assert np.all(after > before)
    assert np.argsort(after / before).tolist() == np.argsort(waits).tolist()
    assert CompiledClosedForm().table(step, slower_network(2.0), many).time == pytest.approx(after, rel=1e-12)
    for mapping, ratio in zip(MAPPINGS, after / before, strict=True):
        event = [EventDriven().estimate(step, slower_network(factor), mapping).time for factor in (1.0, 2.0)]
        assert event[1] / event[0] == pytest.approx(ratio, rel=0.02)


def test_another_element_type_knows_nothing_of_them(step: TrainingStep) -> None:
    assert calibrations_of(machine(TOLD)).own_runs(machine(TOLD).chip, "bf16")
    assert not calibrations_of(machine(TOLD)).own_runs(machine(TOLD).chip, "fp8")


def test_a_plan_takes_a_file_of_own_runs_with_ranges_and_variants(tmp_path: Path) -> None:
    log = ROOT / "examples" / "logs" / "nemo-llama3-8b.log"
    calibrate_from([log], on="dgx-h100/8", model="llama3-8b", context=2, save=tmp_path / "mine.yaml")
    mine = {"stack": str(tmp_path / "mine.yaml")}
    question = {"on": "dgx-h100/64", "batch": 512, "recompute": ("selective",), "tensor": (1, 2, 4), "context": 2}
    found, shipped = (volvelle.plan("llama3-8b", **question, **how) for how in (mine, {"stack": "nemo"}))
    assert found.layouts[0].time < shipped.layouts[0].time
    assert found.layouts[0].p_best is not None
    assert pickle.loads(pickle.dumps(found.cluster)).accelerators == 64
