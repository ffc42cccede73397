"""Units that ZeRO-3 gathers leave other rows of a table as they are."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.strategies import clusters, mappings
from tests.property.test_tuning import FULL, WAYS
from volvelle import ClosedForm, Cluster, MappingTable, ParallelMapping
from volvelle.workload.training import TrainingStep


@settings(max_examples=60, deadline=None)
@given(cluster=clusters(), mapping=mappings(), step=st.sampled_from([FULL, *WAYS.values()]))
def test_a_table_of_every_stage_of_zero_answers_as_its_rows_do(
    cluster: Cluster, mapping: ParallelMapping, step: TrainingStep
) -> None:
    rows = [replace(mapping, zero=zero, zero_group=0, zero_secondary=0) for zero in (0, 1, 2, 3)]
    single = [ClosedForm().estimate(step, cluster, row).memory_bytes for row in rows]
    found = ClosedForm().table(step, cluster, MappingTable.of(rows))
    np.testing.assert_allclose(found.memory_bytes, single, rtol=1e-10)
