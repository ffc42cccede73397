"""Every format becomes one value: operations in order, what each does, and what was left out."""

import gzip
import json
from pathlib import Path

import pytest

from tests.trace_files import (
    MADE,
    chakra,
    chakra_attribute,
    chakra_node,
    execution_trace,
    exported,
    gpu_profile,
    kineto,
    operator,
    phases,
    sized,
    written,
)
from volvelle.errors import DescriptionError
from volvelle.interchange.traces import wire
from volvelle.interchange.traces.reading import read_trace
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.values import Place, Trace, coverage


def read(folder: Path, name: str, data: bytes | None = None) -> Trace:
    return read_trace(written(folder, name, data), clock=1e9)


@pytest.mark.parametrize("name", MADE)
def test_every_format_is_known_by_what_it_holds(name: str, tmp_path: Path) -> None:
    trace = read(tmp_path, name)
    assert trace.operations
    for number, operation in enumerate(trace.operations):
        assert all(other < number for other in operation.after)
        assert 0 <= operation.stream < len(trace.streams)


def test_self_times_leave_out_operations_inside(tmp_path: Path) -> None:
    trace = read(tmp_path, "profile.json")
    told = [(one.name, one.place) for one in trace.operations]
    assert told[:2] == [("aten::linear", Place.HOST), ("aten::addmm", Place.DEVICE)]
    assert [one.seconds for one in trace.operations[:2]] == pytest.approx([20e-6, 80e-6])
    assert sum(one.seconds or 0.0 for one in trace.operations) == pytest.approx(trace.span)


def test_a_child_that_outlives_its_parent_keeps_its_time_and_no_time_counts_twice(tmp_path: Path) -> None:
    events = [operator("aten::linear", 0.0, 50.0), operator("aten::relu", 40.0, 30.0, **sized([8, 8]))]
    trace = read(tmp_path, "profile.json", kineto(events))
    assert [one.seconds for one in trace.operations] == pytest.approx([40e-6, 30e-6])


def test_a_product_is_counted_from_its_sizes(tmp_path: Path) -> None:
    work = read(tmp_path, "profile.json").operations[1].work
    assert work is not None
    assert work.matrix_flop == 2 * 64 * 512 * 256
    assert work.product == (64, 512, 256, 1)


@pytest.mark.parametrize("name", ["model.pt2", "model.onnx", "recorded.json"])
def test_a_graph_without_times_has_the_same_product(name: str, tmp_path: Path) -> None:
    trace = read(tmp_path, name)
    works = [one.work for one in trace.operations if one.work is not None and one.work.kind == "product"]
    assert [work.matrix_flop for work in works] == [2 * 64 * 512 * 256]
    assert not trace.measured


def test_kernels_wait_for_their_launch_and_the_host_for_kernels(tmp_path: Path) -> None:
    trace = read(tmp_path, "profile.json.gz")
    found = {one.name: one for one in trace.operations}
    gemm, nccl = found["ampere_gemm"], found["ncclDevKernel_AllReduce_Sum_bf16_RING_LL"]
    waiting = found["cudaDeviceSynchronize"]
    assert {trace.operations[other].name for other in gemm.after} == {"cudaLaunchKernel"}
    assert {trace.operations[other].name for other in waiting.after} == {gemm.name, nccl.name}
    assert waiting.seconds == pytest.approx(2e-6)  # of 590: from the end of the last kernel to its own
    assert gemm.work is not None
    assert gemm.work.matrix_flop == 2 * 4096**3
    assert nccl.communication is not None
    assert nccl.communication[:3] == (Collective.ALL_REDUCE, 2e6, 8)


def test_an_execution_trace_and_a_profile_are_joined_by_their_record(tmp_path: Path) -> None:
    events = [
        operator("aten::linear", 0.0, 100.0, **{"Record function id": 2}),
        operator("aten::addmm", 10.0, 80.0, **{"Record function id": 4}),
        operator("record_param_comms", 100.0, 5.0, **{"Record function id": 5}),
    ]
    profile, recorded = written(tmp_path, "profile.json", kineto(events)), written(tmp_path, "recorded.json")
    assert not any(one.work for one in read_trace(profile).operations)
    for pair in ((recorded, profile), (profile, recorded)):
        work = read_trace(*pair).operations[1].work
        assert work is not None
        assert work.matrix_flop == 2 * 64 * 512 * 256


def test_an_execution_trace_of_another_run_is_not_used(tmp_path: Path) -> None:
    recorded = written(tmp_path, "recorded.json")
    profile = written(tmp_path, "profile.json", kineto([operator("aten::mul", 0.0, 1.0, **{"Record function id": 4})]))
    assert any("not used" in note for note in read_trace(recorded, profile).notes)


def test_communication_of_an_execution_trace_has_its_group(tmp_path: Path) -> None:
    spoken = read(tmp_path, "recorded.json").operations[-1].communication
    assert spoken is not None
    assert spoken[:3] == (Collective.ALL_REDUCE, 4000.0, 4)


def test_exact_seconds_of_ours_stand_before_whole_microseconds(tmp_path: Path) -> None:
    assert read(tmp_path, "rank.et").operations[-1].seconds == 1.00000001e-4


def test_a_collective_that_is_not_told_is_none(tmp_path: Path) -> None:
    node = chakra_node(1, 7, attributes=chakra_attribute("comm_size", 9, 8))
    trace = read(tmp_path, "rank.et", wire.behind_length(b"") + node)
    assert trace.operations[0].communication is None


def test_groups_stand_beside_a_chakra_trace(tmp_path: Path) -> None:
    (tmp_path / "comm_groups.json").write_text(json.dumps({"7": [0, 1, 2, 3]}))
    spoken = chakra_attribute("comm_type", 9, 2) + chakra_attribute("comm_size", 9, 100)
    node = chakra_node(1, 7, attributes=spoken + chakra_attribute("pg_name", 29, "7"))
    found = read(tmp_path, "rank.et", wire.behind_length(wire.chunk(1, "1")) + node).operations[0].communication
    assert found is not None
    assert found[:3] == (Collective.ALL_GATHER, 400.0, 4)  # every rank gives 100


def test_phases_need_a_clock_and_drop_links_to_themselves(tmp_path: Path) -> None:
    trace = read(tmp_path, "phases.json")
    assert trace.left_out == {"links of a phase to itself": 1}
    assert [one.seconds for one in trace.operations] == [1e-3, None, 2e-3]
    with pytest.raises(DescriptionError, match="--clock"):
        read_trace(written(tmp_path, "phases.json"))


def test_symbolic_sizes_are_taken_as_they_were_exported(tmp_path: Path) -> None:
    import io  # noqa: PLC0415
    import zipfile  # noqa: PLC0415

    with zipfile.ZipFile(io.BytesIO(exported())) as archive:
        told = json.loads(archive.read("m/models/model.json"))
    told["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][0] = {
        "as_expr": {"expr_str": "s0", "hint": {"as_int": 64}}
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("m/models/model.json", json.dumps(told))
    trace = read(tmp_path, "model.pt2", packed.getvalue())
    assert sum(trace.left_out.values()) == 1
    assert coverage(trace).operations == 1.0


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("rank.et", chakra()[:-3], "not whole"),
        ("rank.et", chakra() + chakra_node(3, 4), "node 3 is there twice"),
        ("rank.et", chakra() + chakra_node(4, 4, (9,)), "node 4 waits for node 9"),
        ("rank.et", chakra() + chakra_node(4, 4, (5,)) + chakra_node(5, 4, (4,)), "waits for itself"),
        ("rank.et", chakra() + chakra_node(4, 4, (4,)), "waits for itself"),
        ("rank.et", chakra() + chakra_node(4, 9), "its type is 9"),
        ("profile.json", kineto([operator("a", 0.0, -1.0)]), "event 0 .*zero or more"),
        ("profile.json", kineto([operator("a", float("nan"), 1.0)]), "event 0"),
        ("profile.json", gpu_profile()[:-9], "not whole JSON"),
        ("profile.json", b'{"traceEvents": ' + b"[" * 100_000, "without end"),
        ("profile.json", kineto([]), "no operations"),
        ("recorded.json", execution_trace().replace(b'"id": 5', b'"id": 4'), "node 4 .*twice"),
        ("recorded.json", execution_trace().replace(b'"id": 5', b'"id": "x"'), "whole number"),
        ("phases.json", phases(fwd_pass_comp_cycles=-1), "'a': fwd_pass_comp_cycles is -1"),
        ("model.pt2", b"PK\x03\x04" + b"\0" * 50, "damaged archive"),
        ("model.onnx", b"\x08\x0a\x3a\xff\x01", "not whole"),
        ("what.json", b"{}", "neither traceEvents"),
        ("what.bin", b"\xff\xfe\x00", "no trace does"),
        ("what.json", b"", "is empty"),
        ("what.json.gz", gzip.compress(gpu_profile())[:-20], "cut off|not whole"),
    ],
)
def test_what_is_damaged_is_refused_with_the_file_and_the_node(
    name: str, data: bytes, told: str, tmp_path: Path
) -> None:
    with pytest.raises(DescriptionError, match=told) as refused:
        read(tmp_path, name, data)
    assert name in str(refused.value)
