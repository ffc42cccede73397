"""What every estimator must satisfy."""

from dataclasses import replace
from typing import ClassVar

from volvelle.estimators.calibration import CalibratedCluster, Calibrations
from volvelle.estimators.contract import TrainingEstimator
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import FatTree, Switch
from volvelle.workload.families.transformer import Transformer, transformer
from volvelle.workload.training import TrainingStep


def _chip() -> Chip:
    return Chip(
        name="contract chip",
        matrix_rates={"bf16": 100e12},
        vector_rates={"fp32": 10e12},
        buffer=20e6,
        memories=(Memory(name="HBM", capacity=40e9, rate=1e12),),
    )


def _cluster(chip: Chip, *, speed: float = 1.0) -> Cluster:
    inner = Link(name="inner", rate=200e9 * speed, latency=2e-6, efficiency=0.8)
    outer = Link(name="outer", rate=20e9 * speed, latency=5e-6, efficiency=0.8)
    return CalibratedCluster(
        name="contract/16",
        chip=chip,
        calibrations=Calibrations.of(matrix_efficiency=0.7, memory_efficiency=0.8),
        dimensions=(
            Dimension(name="node", size=4, topology=Switch(), link=inner),
            Dimension(name="net", size=4, topology=FatTree(), link=outer),
        ),
    )


def _alone(cluster: Cluster) -> tuple[Dimension, ...]:
    """The network of one chip."""
    return (replace(cluster.dimensions[0], size=1),)


_MODEL = transformer(
    Transformer(
        name="contract", layers=4, hidden=256, heads=4, kv_heads=4, head_dim=64, ffn=1024, vocabulary=512, sequence=128
    )
)
_STEP = TrainingStep(model=_MODEL, batch=32)
_MAPPING = ParallelMapping(tensor=2, pipeline=2, data=4)


class EstimatorContract:
    """Inherit, and set `estimator`."""

    estimator: ClassVar[TrainingEstimator]

    def test_parts_sum_to_the_whole_and_none_is_negative(self) -> None:
        """Totals are derived from contributions."""
        found = self.estimator.estimate(_STEP, _cluster(_chip()), _MAPPING)
        assert all(line.time >= 0 for line in found.contributions)
        whole = sum(line.time for line in found.contributions if line.exposed)
        assert abs(found.time - whole) <= 1e-9 * whole
        assert found.time > 0

    def test_the_same_question_gets_the_same_answer(self) -> None:
        """An estimator keeps nothing between calls."""
        first, second = (self.estimator.estimate(_STEP, _cluster(_chip()), _MAPPING) for _ in range(2))
        assert first == second

    def test_a_faster_machine_is_never_slower(self) -> None:
        """Chip, memory and network."""
        chip = _chip()
        base = self.estimator.estimate(_STEP, _cluster(chip), _MAPPING).time
        faster = [
            _cluster(replace(chip, matrix_rates={"bf16": 200e12})),
            _cluster(replace(chip, memories=(replace(chip.memory, rate=2e12),))),
            _cluster(chip, speed=2.0),
        ]
        for cluster in faster:
            assert self.estimator.estimate(_STEP, cluster, _MAPPING).time <= base * (1 + 1e-9)

    def test_time_never_beats_the_arithmetic(self) -> None:
        """No machine does more FLOP than its peak allows."""
        found = self.estimator.estimate(_STEP, _cluster(_chip()), _MAPPING)
        assert found.time >= _STEP.flops / (16 * 100e12)

    def test_a_slower_network_never_helps_and_one_chip_does_not_need_it(self) -> None:
        """Where theory says that answers are equal, they are."""
        slow, fast = (_cluster(_chip(), speed=speed) for speed in (0.1, 10.0))
        together = [self.estimator.estimate(_STEP, cluster, _MAPPING).time for cluster in (slow, fast)]
        assert together[0] >= together[1] * (1 - 1e-9)
        alone = [
            self.estimator.estimate(_STEP, replace(cluster, dimensions=_alone(cluster)), ParallelMapping()).time
            for cluster in (slow, fast)
        ]
        assert abs(alone[0] - alone[1]) <= 1e-9 * alone[0]

    def test_twice_the_work_never_takes_less(self) -> None:
        """More sequences in a batch."""
        cluster = _cluster(_chip())
        base = self.estimator.estimate(_STEP, cluster, _MAPPING)
        assert self.estimator.estimate(replace(_STEP, batch=64), cluster, _MAPPING).time >= base.time * (1 - 1e-9)

    def test_candidates_are_ranked_by_the_times_they_are_given(self) -> None:
        """A quicker way to rank may not lead to another order."""
        cluster = _cluster(_chip())
        mappings = [_MAPPING, ParallelMapping(tensor=4, data=4), ParallelMapping(pipeline=4, data=4)]
        candidates = [(_STEP, mapping) for mapping in mappings]
        times = [self.estimator.estimate(_STEP, cluster, mapping).time for mapping in mappings]
        keys = self.estimator.ranked_by(candidates, cluster)
        assert sorted(range(3), key=lambda place: keys[place]) == sorted(range(3), key=lambda place: times[place])
        first = self.estimator.rank(candidates, cluster).first
        assert first.time <= min(times) * (1 + 1e-9)

    def test_memory_is_the_sum_of_its_parts(self) -> None:
        """And a mapping that needs more than there is cannot run."""
        found = self.estimator.estimate(_STEP, _cluster(_chip()), _MAPPING)
        assert all(part.bytes >= 0 for part in found.memory)
        assert abs(found.memory_bytes - sum(part.bytes for part in found.memory)) <= 1e-9 * found.memory_bytes
        assert found.memory_bytes <= found.capacity or not found.feasible

    def test_a_mapping_that_cannot_run_is_answered_with_violations_and_cures(self) -> None:
        """Infeasible is an answer."""
        found = self.estimator.estimate(_STEP, _cluster(_chip()), replace(_MAPPING, data=2))
        assert not found.feasible
        assert all(violation.problem and violation.cures for violation in found.violations)
