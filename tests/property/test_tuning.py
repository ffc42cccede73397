"""Whatever the layout: adapters hold less than full training, and where work outweighs launches take less."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import small_llama
from tests.property.strategies import clusters, mappings
from volvelle import ClosedForm, Cluster, CompiledClosedForm, MappingTable, ParallelMapping, transformer
from volvelle.applications.training.training_step import training_step

SMALL = transformer(small_llama())
FULL = training_step(SMALL, batch=64)
WAYS = {
    "lora": training_step(SMALL, batch=64, lora=2),
    "qlora": training_step(SMALL, batch=64, qlora=2),
    "frozen layers": training_step(SMALL, batch=64, freeze="embedding", freeze_layers=2),
    "muon": training_step(SMALL, batch=64, optimizer="muon"),
    "packed": training_step(SMALL, batch=64, lora=2, lengths="16:0.5,64:0.5"),
}
ON_CHIP = {"offload_weights": False, "offload_optimiser": False, "offload_activations": False}


@settings(max_examples=40, deadline=None)
@given(cluster=clusters(), mapping=mappings(), way=st.sampled_from(["lora", "qlora"]))
def test_adapters_hold_less_than_full_training_of_the_same_layout(
    cluster: Cluster, mapping: ParallelMapping, way: str
) -> None:
    mapping = replace(mapping, **ON_CHIP)
    full, tuned = (ClosedForm().estimate(step, cluster, mapping) for step in (FULL, WAYS[way]))
    states = ("weights", "gradients", "optimiser state", "frozen weights")
    held = [sum(part.bytes for part in one.memory if part.name in states) for one in (full, tuned)]
    assert held[1] < held[0]


@settings(max_examples=40, deadline=None)
@given(cluster=clusters(), mapping=mappings(), way=st.sampled_from(sorted(WAYS)))
def test_parts_add_up_and_nothing_is_used_more_than_there_is(
    cluster: Cluster, mapping: ParallelMapping, way: str
) -> None:
    found = ClosedForm().estimate(WAYS[way], cluster, mapping)
    assert sum(line.time for line in found.contributions if line.exposed) == pytest.approx(found.time)
    assert 0.0 < found.utilisation <= 1.0
    assert all(part.bytes >= 0.0 for part in found.memory)


@settings(max_examples=6, deadline=None)
@given(cluster=clusters(), rows=st.lists(mappings(), min_size=2, max_size=8), way=st.sampled_from(sorted(WAYS)))
def test_a_table_and_compiled_code_answer_as_one_row_does(
    cluster: Cluster, rows: list[ParallelMapping], way: str
) -> None:
    pytest.importorskip("numba")
    rows = [
        replace(row, **{name: getattr(rows[0], name) for name in ("sequence_parallel", "recompute")}) for row in rows
    ]
    step, table = WAYS[way], MappingTable.of(rows)
    plain, fast = (estimator.table(step, cluster, table) for estimator in (ClosedForm(), CompiledClosedForm()))
    single = [ClosedForm().estimate(step, cluster, row) for row in rows]
    np.testing.assert_allclose(plain.time, [one.time for one in single], rtol=1e-10)
    np.testing.assert_allclose(plain.memory_bytes, [one.memory_bytes for one in single], rtol=1e-10)
    np.testing.assert_allclose(fast.time, plain.time, rtol=1e-10)
    np.testing.assert_allclose(fast.memory_bytes, plain.memory_bytes, rtol=1e-10)


@pytest.mark.parametrize(("model", "tensor"), [("llama3-8b", 1), ("llama3-70b", 4), ("mixtral-8x7b", 1)])
@pytest.mark.parametrize("recompute", ["none", "full"])
def test_adapters_of_a_real_model_take_less_time_and_memory(model: str, tensor: int, recompute: str) -> None:
    import volvelle  # noqa: PLC0415

    layout = {"on": "dgx-h100/64", "batch": 256, "tensor": tensor, "zero": 1, "micro_batch": 4, "sequence": 4096}
    again = volvelle.Recompute[recompute.upper()]
    full, tuned = (volvelle.estimate(model, recompute=again, **layout, **way).estimate for way in ({}, {"lora": 16}))
    assert tuned.time < full.time
    assert tuned.memory_bytes < full.memory_bytes
