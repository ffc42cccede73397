"""A step written as Chakra traces, read back and replayed as measured takes what it took."""

import json
import subprocess
from pathlib import Path

import pytest

import volvelle
from tests.conftest import ROOT, small_cluster, small_gpt
from volvelle import DescriptionError, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.interchange.step_traces.chakra import TYPES
from volvelle.interchange.step_traces.stage_program import stage_programs
from volvelle.interchange.step_traces.write import write_step_trace
from volvelle.mapping.parallelism import Schedule

_STEP = TrainingStep(model=transformer(small_gpt()), batch=16)
_MAPPINGS = [
    ParallelMapping(data=16),
    ParallelMapping(tensor=4, data=4, overlap=False),
    ParallelMapping(tensor=4, pipeline=2, data=2),
    ParallelMapping(tensor=2, pipeline=4, data=2, interleave=2),
    ParallelMapping(tensor=2, pipeline=4, data=2, schedule=Schedule.ZERO_BUBBLE),
    ParallelMapping(tensor=2, pipeline=2, data=2, schedule=Schedule.DUAL_PIPE),
    ParallelMapping(tensor=2, pipeline=2, data=4, zero=3),
]


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_a_step_read_back_takes_what_it_took(mapping: ParallelMapping, tmp_path: Path) -> None:
    replayed = EventDriven().replayed(_STEP, small_cluster(), mapping)
    write_step_trace(replayed, tmp_path / "step")
    answer = volvelle.replay(tmp_path / "step")
    assert answer.time == pytest.approx(replayed.time, rel=1e-9)
    assert not any("not in the folder" in words for words in answer.left_out)


def test_a_stage_alone_has_its_messages_at_once_and_says_so(tmp_path: Path) -> None:
    replayed = EventDriven().replayed(_STEP, small_cluster(), _MAPPINGS[2])
    write_step_trace(replayed, tmp_path / "step")
    next((tmp_path / "step").glob("step.0.et")).unlink()
    answer = volvelle.replay(tmp_path / "step")
    assert answer.time < replayed.time
    (count,) = (count for words, count in answer.left_out.items() if "not in the folder" in words)
    assert count == 8


def test_a_folder_without_traces_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"no \.et files"):
        volvelle.replay(tmp_path)


def test_a_file_that_names_no_rank_is_refused(tmp_path: Path) -> None:
    (tmp_path / "step.et").write_bytes(b"\x00")
    with pytest.raises(DescriptionError, match="does not end in a rank"):
        volvelle.replay(tmp_path)


READER = ROOT / ".exporters" / "bin" / "python"
READ = """
import json, sys
from chakra.schema.protobuf.et_def_pb2 import GlobalMetadata, Node
from chakra.src.third_party.utils.protolib import decodeMessage, openFileRd
file = openFileRd(sys.argv[1])
head = GlobalMetadata()
decodeMessage(file, head)
found, node = [], Node()
while decodeMessage(file, node):
    seconds = [one.double_val for one in node.attr if one.name == "volvelle_seconds"]
    found.append([node.id, node.name, int(node.type), list(node.data_deps), seconds])
    node = Node()
print(json.dumps([head.version, found]))
"""


@pytest.mark.long
@pytest.mark.skipif(not READER.exists(), reason="scripts/exporters makes an environment with mlc-chakra")
def test_mlc_chakra_reads_the_same_nodes(tmp_path: Path) -> None:
    replayed = EventDriven().replayed(_STEP, small_cluster(), _MAPPINGS[2])
    write_step_trace(replayed, tmp_path / "step")
    for program in stage_programs(replayed):
        file = tmp_path / "step" / f"step.{program.ranks[0]}.et"
        done = subprocess.run([READER, "-c", READ, str(file)], capture_output=True, text=True, check=True)
        version, nodes = json.loads(done.stdout)
        assert version == "1.0.0"
        assert nodes == [
            [node.number, node.name, TYPES[node.kind], list(node.after), [node.seconds]] for node in program.nodes
        ]
