"""Whatever the machine and the layouts, compiled code answers as NumPy does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import small_gpt
from tests.property.strategies import clusters, mappings
from volvelle import (
    ClosedForm,
    Cluster,
    CompiledClosedForm,
    MappingTable,
    ParallelMapping,
    Recompute,
    TrainingStep,
    transformer,
)

pytest.importorskip("numba")

STEP = TrainingStep(model=transformer(small_gpt()), batch=64)
FIXED = {"sequence_parallel": True, "recompute": Recompute.SELECTIVE, "fused_attention": True}
"""One structure: each compiles anew, and all run the same instructions."""


@st.composite
def any_mapping(draw: st.DrawFn) -> ParallelMapping:
    """A layout of the strategy's 32 chips, or one that breaks rules: too many chips, stages or pieces."""
    mapping = replace(draw(mappings()), **FIXED)
    if draw(st.booleans()):
        return mapping
    return replace(
        mapping,
        tensor=draw(st.integers(1, 12)),
        pipeline=draw(st.integers(1, 12)),
        data=draw(st.integers(1, 40)),
        micro_batch=draw(st.integers(1, 5)),
        interleave=draw(st.integers(1, 4)),
    )


@settings(max_examples=30)
@given(cluster=clusters(), rows=st.lists(any_mapping(), min_size=2, max_size=20))
def test_compiled_code_answers_as_numpy_does(cluster: Cluster, rows: list[ParallelMapping]) -> None:
    table = MappingTable.of(rows)
    plain, fast = (estimator.table(STEP, cluster, table) for estimator in (ClosedForm(), CompiledClosedForm()))
    np.testing.assert_allclose(fast.time, plain.time, rtol=1e-12)
    np.testing.assert_allclose(fast.memory_bytes, plain.memory_bytes, rtol=1e-12)
    for name, violated in plain.violations.items():
        np.testing.assert_array_equal(fast.violations[name], violated, err_msg=name)
