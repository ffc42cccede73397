"""Reading measured collectives, and the laws they asked for."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.applications.collectives.measurements import collective_measurements
from volvelle.errors import DescriptionError
from volvelle.laws.collectives import pipeline_fill_time, stepped_gather_time
from volvelle.laws.nested_collectives import (
    Tier,
    nested_all_gather_time,
    nested_all_reduce_time,
    ring_through_tiers_time,
)
from volvelle.system.topologies import CubeMesh

HEAD = (
    "row_id,group,split,op,system,accelerator,chips,chips_per_node,nodes,cluster,library,algorithm,size_bytes,time_us,"
    "time_from,flags,notes,source"
)
TIMES = st.floats(1e-9, 10.0)


def written(folder: Path, row: str) -> Path:
    file = folder / "collectives.csv"
    file.write_text(f"{HEAD}\n{row}\n", "utf-8")
    return file


def test_every_shipped_row_reads_and_has_a_source_and_a_name_of_its_own() -> None:
    table = collective_measurements()
    assert not table.unread
    assert all(row.head.source for row in table.rows)
    assert len({row.head.row_id for row in table.rows}) == len(table.rows)


def test_times_are_read_in_seconds(tmp_path: Path) -> None:
    row = "X1,g,calibration,all_reduce,s,a,8,8,1,dgx-a100,nccl-tests,,1048576,50,time,,,somewhere"
    (found,) = collective_measurements(written(tmp_path, row)).rows
    assert found.time == pytest.approx(50e-6)
    assert found.size == 2.0**20


def test_an_unknown_split_and_a_bad_number_are_reasons(tmp_path: Path) -> None:
    row = "X1,g,training,all_reduce,s,a,8,8,1,dgx-a100,nccl-tests,,1048576,50,time,,,somewhere"
    (unread,) = collective_measurements(written(tmp_path, row)).unread
    assert "its split is 'training'" in unread.reason
    (unread,) = collective_measurements(
        written(tmp_path, row.replace("training", "heldout").replace("50", "-5"))
    ).unread
    assert "positive number" in unread.reason


def test_a_file_that_lacks_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("row_id,op\nA,all_reduce\n", "utf-8")
    with pytest.raises(DescriptionError, match="lacks the columns"):
        collective_measurements(file)


@given(TIMES, TIMES, st.floats(1.0, 10.0))
def test_filling_a_pipeline_costs_at_most_its_constant_and_grows_with_the_transfer(
    transfer: float, fill: float, factor: float
) -> None:
    cost = pipeline_fill_time(transfer, fill=fill)
    assert 0.0 <= cost <= fill
    assert cost <= pipeline_fill_time(transfer * factor, fill=fill) * (1 + 1e-12)
    assert cost <= pipeline_fill_time(transfer, fill=fill * factor) * (1 + 1e-12)


def test_an_empty_transfer_fills_nothing() -> None:
    assert pipeline_fill_time(0.0, fill=0.0) == 0.0
    assert pipeline_fill_time(0.0, fill=1e-4) == 0.0


def test_a_ring_over_two_nodes_sends_nearly_everything_between_them() -> None:
    inside = Tier(chips=8.0, rate=1e12, latency=0.0, steps=3.0)
    between = Tier(chips=2.0, rate=1e9, latency=0.0, steps=1.0)
    assert nested_all_gather_time(8e9, [inside, between]) == pytest.approx(15 / 16)
    assert ring_through_tiers_time(8e9, [inside, between]) == pytest.approx(2 * 15 / 16)
    assert nested_all_reduce_time(8e9, [inside, between]) == pytest.approx(1.0)


def test_a_stepped_gather_on_a_ring_is_the_ring() -> None:
    assert stepped_gather_time(8e9, 8.0, rate=1e9, latency=1e-6, steps=7.0) == pytest.approx(7 * (1e-6 + 1.0))


def test_a_switch_that_adds_up_is_used_only_where_it_helps() -> None:
    slow = Tier(chips=8.0, rate=1e9, latency=0.0, steps=3.0, reduces=True, reduction_efficiency=0.1)
    fast = Tier(chips=8.0, rate=1e9, latency=0.0, steps=3.0, reduces=True, reduction_efficiency=0.8)
    assert nested_all_reduce_time(1e9, [slow]) == pytest.approx(7 / 4)
    assert nested_all_reduce_time(1e9, [fast]) == pytest.approx(9 / 8 / 0.8)


def test_a_part_of_a_cube_mesh_reaches_only_the_links_its_rings_can_use() -> None:
    # Two, four and eight V100 of a DGX-1 reach 42, 77 and 130 GB/s (Aceso): in the ratio of two, four and six links.
    found = CubeMesh().neighbourly(np.array([1.0, 2.0, 4.0, 8.0]))
    assert found == pytest.approx([1.0, 2 / 6, 4 / 6, 1.0])
