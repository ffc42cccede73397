"""A second tier of memory: what does not fit the first is read from it, and more of it never hurts."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from volvelle import Catalogue, ClosedForm, MappingTable, TrainingStep, transformer
from volvelle.studies.design_space.fields import with_values

CATALOGUE = Catalogue()
STEP = TrainingStep(model=transformer(CATALOGUE.model("megatron-1t")), batch=3072)
CLUSTER = CATALOGUE.cluster("dgx-a100/1024")
LAYOUT = MappingTable.columns(tensor=8, pipeline=16, data=8, micro_batch=6, recompute=0)


def expanded(rate: object, capacity: object) -> tuple[np.ndarray, np.ndarray]:
    fields = {"chip.expansion.rate": rate, "chip.expansion.capacity": capacity}
    found = ClosedForm().table(STEP, with_values(CLUSTER, fields), LAYOUT)  # type: ignore[arg-type]
    return found.time, found.feasible


def test_what_overflows_local_memory_fits_with_expansion_and_takes_longer() -> None:
    plain = ClosedForm().table(STEP, CLUSTER, LAYOUT)
    time, feasible = expanded(5e11, 1e12)
    assert not plain.feasible[0]
    assert feasible[0]
    assert time[0] > plain.time[0]


def test_no_expansion_is_the_machine_as_it_was() -> None:
    time, feasible = expanded(5e11, 0.0)
    plain = ClosedForm().table(STEP, CLUSTER, LAYOUT)
    assert time[0] == plain.time[0]
    assert feasible[0] == plain.feasible[0]


@settings(max_examples=30, deadline=None)
@given(
    rates=st.lists(st.floats(1e11, 2e12), min_size=2, max_size=6, unique=True),
    capacity=st.floats(5e11, 4e12),
)
def test_faster_expansion_is_never_slower(rates: list[float], capacity: float) -> None:
    time, _ = expanded(np.array(sorted(rates)), capacity)
    assert (np.diff(time) <= 1e-12 * time[1:]).all()


def test_expansion_as_fast_as_local_memory_is_local_memory() -> None:
    time, _ = expanded(float(np.max(CLUSTER.chip.memory.rate)), 4e12)
    plain = ClosedForm().table(STEP, CLUSTER, LAYOUT)
    assert abs(time[0] / plain.time[0] - 1) < 1e-12


def test_rows_that_need_no_expansion_are_the_same_beside_rows_that_do() -> None:
    fields = {"chip.expansion.rate": 5e11, "chip.expansion.capacity": 1e12}
    layouts = MappingTable.columns(tensor=8, pipeline=16, data=8, micro_batch=[1, 6], recompute=[2, 0])
    both = ClosedForm().table(STEP, with_values(CLUSTER, fields), layouts)  # type: ignore[arg-type]
    alone = ClosedForm().table(STEP, CLUSTER, MappingTable.columns(tensor=8, pipeline=16, data=8, recompute=2))
    assert both.time[0] == alone.time[0]
