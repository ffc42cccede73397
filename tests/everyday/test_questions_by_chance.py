"""Questions by chance: a sample of what ``scripts/fuzz`` asks, and what it found once, each as it was typed."""

import json
import tracemalloc
from pathlib import Path

import pytest

from tests.everyday.asking import Reply, ask
from tests.everyday.fuzzing import fuzz
from tests.everyday.judgement import absurdities
from tests.everyday.questions import question
from volvelle.interchange.request_trace import read_trace

SAMPLE = 60


def test_no_question_ends_in_a_traceback_a_hang_or_an_absurd_figure() -> None:
    found = [finding for _, findings in fuzz(range(SAMPLE)) for finding in findings]
    assert found == []


def test_no_question_fits_all_engines_to_all_that_was_measured(tmp_path: Path) -> None:
    """A word that got lost made it one, which takes minutes."""
    arguments = question(1243057, tmp_path).arguments
    assert arguments[:2] == ("calibrate", "serving")
    assert any(word.startswith("--data") for word in arguments)


def answered(folder: Path, words: str) -> Reply:
    arguments = tuple(words.split())
    reply = ask(folder, *arguments)
    assert reply.status in (0, 1, 2), reply.err
    assert absurdities(arguments, reply.status, reply.out) == []
    return reply


@pytest.mark.parametrize(
    "words",
    [
        "estimate llama2-13b --on=gb300-nvl72/8 --batch=16 --tp=8 --pp=1 --micro-batch=1 --expert-overlap --json",
        "estimate qwen2-57b-a14b --on=dgx-b200/8 --batch=8 --tp=4 --pp=2 --micro-batch=4 --json",
    ],
)
def test_an_estimate_lies_in_its_own_range(tmp_path: Path, words: str) -> None:
    document = json.loads(answered(tmp_path, words).out)
    assert document["range"]["low"] <= document["seconds"] <= document["range"]["high"]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("plan dlrm dlrm-793b --on=h100-96gb-cluster/100000000 --json", 0),
        ("plan hpl --on=dgx-b200/512 --host-memory=2e17B", 2),
        ("plan hpl --on=dgx-b200/100000000", 2),
        ("plan fft 1024 --on=dgx-b200/100000000 --json", 1),
        ("cost --on=fugaku/99999989 --json", 2),
    ],
)
def test_what_is_largest_takes_neither_for_ever_nor_all_memory(tmp_path: Path, words: str, status: int) -> None:
    assert answered(tmp_path, words).status == status


def test_a_count_of_tables_is_no_text(tmp_path: Path) -> None:
    tables = [{"count": "-1 GB/s", "rows": 1_000_000, "width": 128}]
    model = {"dense": 13, "bottom": [512, 128], "top": [512, 1], "tables": tables}
    (tmp_path / "model.json").write_text(json.dumps(model))
    reply = answered(tmp_path, "plan dlrm model.json --on=dgx-h200/256 --json")
    assert reply.status == 2
    assert "tables: count is '-1 GB/s'; it must be a whole number from 1 to 100,000" in reply.last


def test_outputs_of_a_graph_are_names(tmp_path: Path) -> None:
    text = "sizes: {n: 1}\ninputs: {x: n}\nkernels: {y: 'sum x, x -> n'}\noutputs: [[y]]\n"
    (tmp_path / "graph.yaml").write_text(text)
    reply = answered(tmp_path, "map graph.yaml --on=sn30-node/1 --limit=1 --json")
    assert reply.status == 2
    assert "outputs: there is no kernel" in reply.last


@pytest.mark.parametrize("word", ["training", "collectives"])
def test_a_table_without_rows_to_score_has_no_scores(tmp_path: Path, word: str) -> None:
    sizes = "n_layers,hidden,n_heads,seq_len,accel,n_accel,TP,PP,DP,micro_batch,global_batch"
    header = {
        "training": f"row_id,{sizes},step_time_s",
        "collectives": "row_id,collective,accel,n_accel,bytes,time_us",
    }[word]
    (tmp_path / "rows.csv").write_text(header + "\n1" + ",x" * header.count(",") + "\n")
    reply = ask(tmp_path, "validate", word, "--data", "rows.csv")
    assert reply.status in (0, 2)
    assert "nan" not in reply.out


def test_a_collective_of_one_chip_is_not_scored(tmp_path: Path) -> None:
    columns = "row_id,group,split,op,system,accelerator,chips,nodes,cluster,library,algorithm,size_bytes,time_us"
    cells = "1,own,heldout,all_gather,a node,H100-SXM-80GB,1,2,dgx-h100,nccl-tests,,2097152,988.6"
    (tmp_path / "rows.csv").write_text(f"{columns}\n{cells}\n")
    reply = ask(tmp_path, "validate", "collectives", "--data", "rows.csv", "--json")
    assert reply.status == 0
    assert "one chip alone exchanges nothing" in reply.out


def test_a_matrix_with_fewer_blocks_than_processes_is_refused(tmp_path: Path) -> None:
    reply = answered(tmp_path, "plan hpl --on=dgx-a100/99999989 --memory=1.5e-06 --method=layered --json")
    assert reply.status in (1, 2)
    assert "blocks a side is too small" in reply.last


def test_a_load_is_read_before_what_does_not_fit_is_cured(tmp_path: Path) -> None:
    reply = ask(tmp_path, "serve", "palm-540b", "--on=gb200-nvl72/4", "--load=poisson nan/s", "--input=1")
    assert reply.status == 2
    assert "nan" not in reply.out


def test_a_matrix_with_more_panels_than_can_be_followed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f"row_id,accel,n_accel,N,rmax_tflops\n1,P100-PCIe-16GB,4,{2**63},14\n")
    reply = ask(tmp_path, "validate", "hpl", "--data", "rows.csv", "--json")
    assert reply.status in (0, 1, 2)
    assert "panels of" in reply.out + reply.err


def test_two_pools_are_asked_about_on_the_command_line(tmp_path: Path) -> None:
    pools = ("--prefill=1x tp1", "--decode=1x tp1", "--load=closed 2", "--requests=4", "--json")
    reply = ask(tmp_path, "serve", "llama3-8b", "--on=dgx-h100/2", *pools)
    assert reply.status == 0, reply.err
    assert json.loads(reply.out)["load"]["latencies"]["ttft"]["mean"] > 0
    assert ask(tmp_path, "serve", "llama3-8b", "--on=dgx-h100/2", "--speculate=eagle 3", *pools).status == 2


@pytest.mark.parametrize(("column", "text"), [("tp", "None"), ("latency_ms", "abc"), ("decode_requests", "-1")])
def test_a_row_whose_number_is_none_is_left_out_with_the_reason(tmp_path: Path, column: str, text: str) -> None:
    columns = "row_id,group,engine,model,chip,tp,prefill_tokens,decode_requests,decode_context_tokens,latency_ms"
    sound = ("1", "own", "vllm", "llama3-8b", "h100-sxm", "1", "0", "8", "8000", "9")
    cells = dict(zip(columns.split(","), sound, strict=True))
    (tmp_path / "rows.csv").write_text(f"{columns}\n{','.join({**cells, column: text}.values())}\n")
    reply = ask(tmp_path, "validate", "serving", "--data", "rows.csv", "--json")
    assert reply.status in (0, 1, 2), reply.err
    assert f"{column} is" in reply.out + reply.err


def test_a_short_trace_takes_little_memory_to_read(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("arrival_s,input_tokens,output_tokens\n0,16,20\n")
    tracemalloc.start()
    reading = read_trace(tmp_path / "trace.csv")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reading.requests.arrival.size == 1
    assert most < 16 * 2**20
