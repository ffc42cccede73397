"""Published logs are read to the values that are printed in them; what is damaged is refused with its line."""

from pathlib import Path

import pytest

from tests.conftest import ROOT
from volvelle import DescriptionError
from volvelle.interchange.logs.logged import SAMPLE, STEP, TOKEN, Log, LoggedRun
from volvelle.interchange.logs.readers import log_of, read_log

LOGS = ROOT / "tests" / "data" / "logs"


def read(name: str) -> Log:
    return read_log(LOGS / f"{name}.txt")


def run_of(name: str) -> LoggedRun:
    (run,) = read(name).runs
    return run


def test_every_excerpt_says_where_it_was_published() -> None:
    said = (LOGS / "README.md").read_text("utf-8")
    assert [file.name for file in LOGS.glob("*.txt") if file.name not in said] == []


@pytest.mark.parametrize(
    ("name", "tool", "per", "line", "printed"),
    [
        ("megatron-mixtral", "megatron", STEP, 2, 5.5338),
        ("megatron-bigscience", "megatron", STEP, 1, 0.43),
        ("megatron-deepspeed-polaris", "megatron", STEP, 2, 14.2875),
        ("megatron-swiss", "megatron", STEP, 1, 131.0641),
        ("megatron-openseek", "megatron", STEP, 1, 271.607),
        ("torchtitan-flex", "torchtitan", TOKEN, 8, 1 / 34_574),
        ("torchtitan-readable", "torchtitan", TOKEN, 1, 1 / 7_282),
        ("torchtitan-llama2", "torchtitan", TOKEN, 4, 1 / 1_715),
        ("nemo-esm2", "nemo", STEP, 2, 0.1903),
        ("nemo-llama31", "nemo", STEP, 1, 12.39),
        ("nemo-llama3", "nemo", STEP, 1, 12.22),
        ("nemo-pretrain", "nemo", STEP, 3, 2.008),
        ("deepspeed-chat", "deepspeed", SAMPLE, 3, 1 / 25.704280480541442),
        ("deepspeed-bert", "deepspeed", SAMPLE, 4, 1 / 227.45044884073528),
        ("deepspeed-small", "deepspeed", SAMPLE, 2, 1 / 222.88787331278564),
        ("profiler-bert", "deepspeed-profiler", STEP, 22, 0.18473),
        ("profiler-17b", "deepspeed-profiler", STEP, 13, 7.77),
        ("trainer-lora", "hf-trainer", STEP, 2, 247.4258 / 500),
        ("trainer-strings", "hf-trainer", STEP, 2, 426.5 / 30),
        ("trainer-output", "hf-trainer", STEP, 1, 442653.9183 / 103138),
        ("mlperf-bert", "mlperf", SAMPLE, 1, 1 / 14214.65962521748),
        ("mlperf-gpt3", "mlperf", SAMPLE, 2, 1 / 5154997.267404211),
        ("mlperf-lora", "mlperf", SAMPLE, 2, 1 / 1.9257918929116467),
    ],
)
def test_a_published_step_is_read_as_printed(name: str, tool: str, per: str, line: int, printed: float) -> None:
    run = run_of(name)
    assert (run.tool, run.per) == (tool, per)
    assert {step.line: step.seconds for step in run.steps}[line] == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "operation", "ranks", "line", "microseconds"),
    [
        ("nccl-b200-gather", "all_gather", 16, 5, (280.4, 233.9)),
        ("nccl-tcpx-gather", "all_gather", 16, 12, (1116.5, 1220.1)),
        ("nccl-efa-reduce", "all_reduce", 2, 10, (58479.5, 58055.4)),
        ("nccl-h100-two-nodes", "all_reduce", 16, 8, (81958, 81960)),
        ("mscclpp-gb200", "all_reduce", 4, 4, (25.16, 23.73)),
        ("rccl-strix-broadcast", "broadcast", None, 2, (43.00, 42.86)),
        ("rccl-mi300x-node", "all_reduce", 8, 18, (149.9, 156.3)),
        ("rccl-mi300x-two-nodes", "all_reduce", 16, 29, (90115, 90127)),
        ("nccl-a3mega", "all_reduce", 16, 26, (6759.0, 6737.4)),
    ],
)
def test_a_published_collective_is_read_as_printed(
    name: str, operation: str, ranks: int | None, line: int, microseconds: tuple[float, float]
) -> None:
    log = read(name)
    rows = [row for row in log.collectives if row.line == line]
    assert {(row.operation, row.ranks) for row in rows} == {(operation, ranks)}
    assert tuple(row.seconds for row in rows) == tuple(time / 1e6 for time in microseconds)
    assert [row.in_place for row in rows] == [False, True]
    assert log.refused == ()


def test_a_published_result_a_line_is_read_as_printed() -> None:
    log = read("rccl-reporter")
    assert (log.tool, log.refused) == ("nccl-json", ())
    rows = {row.line: row for row in log.collectives}
    assert [(rows[line].size, rows[line].in_place) for line in (3, 4)] == [(2048, False), (2048, True)]
    assert rows[4].seconds == pytest.approx(20.260200000000005e-6, rel=1e-15)
    assert {(row.operation, row.ranks) for row in rows.values()} == {("all_reduce", 4)}


@pytest.mark.parametrize(
    ("name", "operation", "ranks", "nodes", "microseconds", "bus"),
    [
        ("nccl-json-gh200-reduce", "all_reduce", 2, 1, (9341.2783, 9286.291975), (114.94592, 115.626541)),
        ("nccl-json-h100-gather", "all_gather", 4, 1, (368.2665, 363.929), (273.343614, 276.601469)),
        ("nccl-json-gh200-alltoall", "all_to_all", 8, 2, (5916.094413, 5929.875706), (39.702041, 39.609772)),
    ],
)
def test_a_published_file_of_json_is_read_as_printed(
    name: str, operation: str, ranks: int, nodes: int, microseconds: tuple[float, float], bus: tuple[float, float]
) -> None:
    log = read(name)
    assert (log.tool, log.refused, len(log.collectives)) == ("nccl-json", (), 6)
    assert {(row.operation, row.ranks, row.nodes) for row in log.collectives} == {(operation, ranks, nodes)}
    middle = log.collectives[2:4]
    assert tuple(row.seconds for row in middle) == tuple(time / 1e6 for time in microseconds)
    assert tuple(row.bus_rate for row in middle) == tuple(1e9 * rate for rate in bus)
    assert [row.in_place for row in middle] == [False, True]


@pytest.mark.parametrize(
    ("name", "operation", "line", "size", "microseconds", "refused"),
    [
        ("rccl-csv-mpi", "all_reduce", 2, 2**20, 55.66, []),
        ("rccl-csv-reduce", "all_reduce", 5, 2**28, 2086.2, [6]),
        ("rccl-csv-gather", "all_gather", 6, 2**30, 3085.9, [3]),
    ],
)
def test_a_published_table_is_read_as_printed(
    name: str, operation: str, line: int, size: int, microseconds: float, refused: list[int]
) -> None:
    log = read(name)
    assert (log.tool, [one.line for one in log.refused]) == ("nccl-csv", refused)
    assert {(row.operation, row.ranks) for row in log.collectives} == {(operation, 8)}
    assert [(row.size, row.seconds) for row in log.collectives if row.line == line] == [(size, microseconds / 1e6)]


def test_a_column_that_the_header_lacks_is_the_nodes() -> None:
    row = read("rccl-csv-mpi").collectives[0]
    assert (row.nodes, row.ranks, row.element) == (1, 8, "float")


def test_of_ranks_in_groups_results_are_those_of_the_first() -> None:
    text = (LOGS / "nccl-json-h100-gather.txt").read_text()
    others = text.replace(
        '"devices":[',
        '"devices":['
        + ",".join(
            f'{{"rank":{rank},"group":{rank % 2},"hostname":"{"ab"[rank % 2]}","device_info":"NVIDIA H100"}}'
            for rank in range(8)
        )
        + '],"of one group":[',
    )
    log = log_of(others, "groups")
    assert log.refused == ()
    assert {(row.ranks, row.nodes) for row in log.collectives} == {(4, 1)}
    printed = (LOGS / "nccl-b200-gather.txt").read_text()
    ranks = "".join(
        f"#  Rank {rank:2} Group {rank // 16} Pid 1 on host{rank // 8} device {rank % 8} [0x1b] NVIDIA B200\n"
        for rank in range(32)
    )
    log = log_of(ranks + printed, "printed groups")
    assert {(row.ranks, row.nodes) for row in log.collectives} == {(16, 2)}


def test_a_result_that_is_cut_is_refused_with_its_line() -> None:
    text = (LOGS / "rccl-reporter.txt").read_text()
    log = log_of(text[: text.index('"time":20.26')] + "\n", "cut")
    assert [one.line for one in log.refused] == [4]
    assert len(log.collectives) == 3


@pytest.mark.parametrize(
    ("name", "line", "order", "seconds", "gigaflops"),
    [
        ("hpl-intel", 4, 707_712, 3621.21, 6.52569e4),
        ("hpl-epyc", 3, 114_000, 885.42, 1115.5),
        ("hpl-two", 11, 36_992, 562.48, 60.0),
    ],
)
def test_a_published_linpack_run_is_read_as_printed(
    name: str, line: int, order: int, seconds: float, gigaflops: float
) -> None:
    run = next(run for run in read(name).linpack if run.line == line)
    assert (run.n, run.seconds, run.flop_rate) == (order, seconds, pytest.approx(1e9 * gigaflops))


@pytest.mark.parametrize(
    ("name", "line", "sizes", "microseconds", "element"),
    [
        ("rocblas-mi300x", 6, (4000, 4000, 4000), 1317, "fp32"),
        ("rocblas-mi100", 2, (7680, 8192, 8192), 102694, None),
        ("rocblas-rx6750", 5, (4096, 4096, 4096), 5290.73, None),
        ("rocblas-batched", 2, (192, 192, 32), 10929.6, None),
    ],
)
def test_a_published_product_is_read_as_printed(
    name: str, line: int, sizes: tuple[int, int, int], microseconds: float, element: str | None
) -> None:
    product = next(one for one in read(name).gemms if one.line == line)
    assert (product.m, product.n, product.k) == sizes
    assert (product.seconds, product.element) == (pytest.approx(1e-6 * microseconds), element)


def test_a_profile_of_the_forward_pass_alone_is_refused() -> None:
    log = read("profiler-forward")
    assert log.runs == ()
    assert [one.line for one in log.refused] == [2]


def test_a_run_is_the_middle_of_its_steady_steps() -> None:
    run = run_of("megatron-gpt2")
    assert run.batch == 16
    assert run.arguments["seq_length"] == "512"
    assert run.arguments["world_size"] == "1"
    steady = run.steady
    assert steady is not None
    # Without the start, and without the steps after the evaluation (line 26) and the checkpoint (line 33).
    kept = sorted([821.8, 849.8, 904.5, 840.3, 849.5, 832.5, 869.1, 774.3])
    assert steady.seconds == pytest.approx((kept[3] + kept[4]) / 2000)
    assert (steady.started, steady.beside, steady.steps) == (2, 2, 80)


def test_ranks_that_print_the_same_step_are_one_run() -> None:
    run = run_of("torchtitan-gate")
    assert [step.step for step in run.steps] == [4, 5]
    assert run.memory == pytest.approx(66.91 * 2**30)


TRAINED = (LOGS / "megatron-gpt2.txt").read_text("utf-8")


def test_two_runs_in_one_file_are_two_runs() -> None:
    other = TRAINED.replace("(ms): 8", "(ms): 16").replace(
        "seq_length ...................................... 512", "seq_length ... 1024"
    )
    first, second = log_of(TRAINED + other, "both.log").runs
    assert (first.arguments["seq_length"], second.arguments["seq_length"]) == ("512", "1024")
    assert first.steady is not None
    assert second.steady is not None
    assert second.steady.seconds == pytest.approx(1.6364)
    assert first.steady.seconds == pytest.approx(0.8449)


def test_steps_of_another_batch_are_told_and_not_averaged() -> None:
    log = log_of(
        TRAINED.replace("global batch size:    16 | lm loss: 7.9", "global batch size:     8 | lm loss: 7.9"), "a"
    )
    assert [one.why for one in log.refused] == ["a batch of 8, and most steps of the run have 16: not averaged"]


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("(ms): 849.5", "(ms): nan", "no number"),
        ("(ms): 849.5", "(ms): -849.5", "above 0"),
        ("(ms): 849.5", "(ms): inf", "no number"),
        ("(ms): 849.5", "(ms): 849,5", "decimal comma"),
        ("(ms): 849.5 |", "(ms): 849.5 [rank1]: elapsed time per iteration (ms): 3.0 |", "several processes"),
        ("iterations:   0 |\n [2025-04-13 23:42:23]", "iterations:   2 |\n [2025-04-13 23:42:23]", "NaN"),
    ],
)
def test_a_line_that_cannot_be_believed_is_refused_with_its_number(was: str, now: str, why: str) -> None:
    assert was in TRAINED
    changed = TRAINED.replace(was, now)
    line = 1 + next(
        place
        for place, pair in enumerate(zip(TRAINED.split("\n"), changed.split("\n"), strict=True))
        if pair[0] != pair[1]
    )
    (refused,) = log_of(changed, "a.log").refused
    assert refused.line == line
    assert why in refused.why
    (run,) = log_of(changed, "a.log").runs
    assert line not in {step.line for step in run.steps}


ROW = "   536870912     134217728     float     sum -1  4627.5  116.02  203.03      0   4250.9  126.30  221.02      0\n"


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("203.03      0", "203.03     12", "wrong"),
        ("4627.5", "462.75", "algbw"),
        ("203.03", "103.03", "ranks"),
        ("4627.5", "nan", "no number"),
        ("4627.5", "-4627.5", "above 0"),
        ("4627.5", "4627,5", "decimal comma"),
    ],
)
def test_a_collective_whose_figures_disagree_is_refused(was: str, now: str, why: str) -> None:
    named = "# Collective test starting: all_reduce_perf\n" + "".join(
        f"#  Rank  {rank} Group  0 Pid  5 on  thanos device  {rank} [0x07] NVIDIA A100-SXM4-80GB\n" for rank in range(8)
    )
    (good, _) = log_of(named + ROW, "a").collectives
    assert (good.ranks, good.nodes, good.device) == (8, 1, "NVIDIA A100-SXM4-80GB")
    log = log_of(named + ROW.replace(was, now), "a")
    assert [row.in_place for row in log.collectives] == [True]
    assert [one.line for one in log.refused] == [10]
    assert why in log.refused[0].why


def test_columns_of_single_iterations_and_of_what_rccl_chose_are_passed_over() -> None:
    named = "$ ./all_reduce_perf -g 8\n"
    cells = ROW.split()
    with_iterations = " ".join([*cells[:9], "1", "2", "3", "4", *cells[9:], "1", "2", "3", "4"])
    for row in (
        ROW,
        ROW.rstrip() + "  RING  LL128  64\n",
        with_iterations + "\n",
        ROW.rstrip() + "  2026-01-01 12:00:00\n",
    ):
        assert [one.seconds for one in log_of(named + row, "a").collectives] == [4627.5 / 1e6, 4250.9 / 1e6]


def test_the_tools_own_json_and_csv_say_the_same_as_its_text() -> None:
    as_json = (
        '{"version":3,"args":["build\\/all_reduce_perf","-g","8"],"config":{"nthreads":1,"ngpus":8,"devices":[{"rank":0,'
        '"hostname":"thanos","device_info":"NVIDIA A100-SXM4-80GB"}]},"results":[{"size":536870912,"count":134217728,'
        '"type":"float","redop":"sum","root":"    -1","out_of_place":{"time":4627.500000,"alg_bw":116.020000,'
        '"bus_bw":203.030000,"nwrong":0.000000},"in_place":{"time":4250.900000,"alg_bw":126.300000,"bus_bw":221.020000,'
        '"nwrong":null}}],"average_bus_bandwidth":{"bandwidth":66.2}}'
    )
    as_csv = (
        "numCycle,collective,gpus,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
        "0,AllReduce,8,536870912,float,sum,0,4627.5,116.02,203.03,0\n"
        "0,AllReduce,8,536870912,float,sum,1,4250.9,126.30,221.02,0\n"
    )
    for text in (as_json, as_csv):
        log = log_of(text, "sweep")
        assert [(row.operation, row.ranks, row.seconds) for row in log.collectives] == [
            ("all_reduce", 8, 4627.5 / 1e6),
            ("all_reduce", 8, 4250.9 / 1e6),
        ]


def test_a_linpack_run_that_failed_or_was_not_checked_is_refused() -> None:
    text = (LOGS / "hpl-intel.txt").read_text("utf-8")
    for changed in (text.replace("PASSED", "FAILED"), text.partition("||Ax")[0], text.replace("3621.21", "362.121")):
        log = log_of(changed, "hpl.out")
        assert log.linpack == ()
        assert [one.line for one in log.refused] == [4]


def test_negative_latencies_of_the_profiler_are_refused_with_their_line() -> None:
    text = (LOGS / "profiler-bert.txt").read_text("utf-8").replace("108.02 ms", "-2.96e+08 us")
    (refused,) = log_of(text, "ds.log").refused
    assert (refused.line, refused.why) == (17, "bwd latency is -2.96e+08, and must be above 0")


def test_a_table_of_ones_own_products_is_read() -> None:
    log = log_of("m,n,k,element,seconds\n4096,4096,4096,bf16,0.00021\n1,2,3,bf16,nan\n", "mine.csv")
    assert [(one.m, one.element, one.seconds) for one in log.gemms] == [(4096, "bf16", 0.00021)]
    assert [one.line for one in log.refused] == [3]


def test_a_last_number_that_may_be_cut_is_refused() -> None:
    for text in ("m,n,k,element,seconds\n8,8,8,bf16,0.0002", (LOGS / "rocblas-mi100.txt").read_text("utf-8")[:-2]):
        log = log_of(text, "cut.csv")
        assert [one.line for one in log.refused] == [text.count("\n") + 1]
        assert log.refused[0].why == "the file ends in this line: its last number may be cut"


def test_a_file_of_no_known_tool_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("dear diary\n", "utf-8")
    with pytest.raises(DescriptionError, match=r"line 1: no line up to it is of a tool"):
        read_log(file)
    with pytest.raises(DescriptionError, match="does not exist"):
        read_log(tmp_path / "none.log")
    file.write_bytes(b"a\nb\0c")
    with pytest.raises(DescriptionError, match="line 2: binary"):
        read_log(file)
