"""Numbers of a machine that cannot be: refused where they are written, by name, with the domain."""

from pathlib import Path

import pytest

from tests.everyday.asking import ask

STUDY = """
name: odd
system: dgx-h100/64
workloads: [{{train: llama3-8b, batch: 64, tokens: 1e12}}]
mapping: {{policy: fixed, tensor: 2, data: 32}}
measures: [mfu, days]
axes: {{{axis}}}
"""


@pytest.mark.parametrize(
    ("axis", "says"),
    [
        ("scale_up.latency: [-1 s, 1 us]", "axis scale_up.latency is -1 s; it must be a time from 0 s"),
        (
            "chip.matrix_rate: {times: [-1, 1, 0]}",
            "chip.matrix_rate.times.0: it is -1.0; it must be a number from 0",
        ),
        ("chip.matrix_rate: {times: [1, 0]}", "it must be a rate of arithmetic from 1 FLOP/s"),
        ("calibration.kernel_launch_time: [-1 ms]", "kernel_launch_time is -1 ms; it must be a time from 0 s"),
        ("calibration.matrix_efficiency: [300 %, 80 %]", "matrix_efficiency is 300 %; it must be a fraction"),
        ("chip.memory.rate: [-1 TB/s, 3 TB/s]", "chip.memory.rate is -1 TB/s; it must be a data rate from 1 B/s"),
        ("chip.memory.rate: [0 TB/s]", "chip.memory.rate is 0 TB/s; it must be a data rate from 1 B/s"),
        ("chip.memory.rate: {times: {from: 0.5, to: .inf, points: 8, scale: log}}", "is inf; it must be a number"),
        ("chip.memory.rate: {from: 1 TB/s, to: inf TB/s, points: 3}", "is inf TB/s; it must be a data rate"),
        ("accelerators: [0, 64]", "axis accelerators is 0; it must be a whole number from 1 to 100,000,000"),
        ("workload.batch: [1000000000000]", "it must be a whole number from 1 to 1,000,000,000"),
        ("mapping.tensor: [0]", "tensor of the layout is 0; it must be a whole number from 1"),
    ],
)
def test_an_axis_takes_no_value_that_no_machine_has(tmp_path: Path, axis: str, says: str) -> None:
    (tmp_path / "odd.yaml").write_text(STUDY.format(axis=axis))
    reply = ask(tmp_path, "explore", "odd.yaml", "--workers", "1")
    assert (reply.status, reply.out) == (2, "")
    assert says in reply.last
    assert not (tmp_path / "odd.results").exists()


def test_a_field_that_is_computed_stays_in_its_domain(tmp_path: Path) -> None:
    text = STUDY.format(axis="chip.memory.capacity: [40 GB, 80 GB]")
    (tmp_path / "odd.yaml").write_text(f"{text}set: {{chip.memory.rate: base.chip.memory.rate - 9e12}}\n")
    reply = ask(tmp_path, "explore", "odd.yaml", "--dry-run")
    assert reply.status == 2
    assert "set: chip.memory.rate = base.chip.memory.rate - 9e12 is -5.65 TB/s; it must be a data rate" in reply.last


@pytest.mark.parametrize(
    ("rate", "says"),
    [
        ("-989.4 TFLOP/s", "matrix_rates.bf16 is -989 TFLOP/s; it must be a rate of arithmetic from 1 FLOP/s"),
        ("0 TFLOP/s", "matrix_rates.bf16 is 0 FLOP/s; it must be"),
        ("inf TFLOP/s", "matrix_rates.bf16 is inf FLOP/s; it must be"),
    ],
)
def test_a_chip_of_ones_own_has_rates_above_zero(tmp_path: Path, rate: str, says: str) -> None:
    chips = tmp_path / "own" / "chips"
    chips.mkdir(parents=True)
    datum = "{{value: {}, kind: vendor, source: klockwood-garden}}".format
    (chips / "h100-sxm.yaml").write_text(
        "name: h100-sxm\ntitle: H100\nvendor: NVIDIA\nfamily: hopper\nlaunched: '2022'\n"
        f"matrix_rate: {{bf16: {datum(rate)}}}\nvector_rate: {{fp32: {datum('67 TFLOP/s')}}}\n"
        f"buffer: {datum('50 MB')}\n"
        f"memories: [{{name: HBM3, capacity: {datum('80 GiB')}, rate: {datum('3.35 TB/s')}}}]\n"
    )
    words = ("estimate", "gpt2", "--on", "dgx-h100/8", "--batch", "8", "--catalogue", "own")
    assert says in ask(tmp_path, *words).last


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--use", "0 %"), "it is 0 %; it must be a fraction from 0.0001 % to 100 %"),
        (("--step", "0 s", "--tokens-per-step", "1"), "it is 0 s; it must be a time from 1 ns"),
        (("--chip-price", "-5 USD"), "it is -5 USD; it must be an amount of money from 0.01 USD"),
        (("--step", "-3 s", "--tokens-per-step", "10"), "it is -3 s; it must be a time"),
        (("--life", "0 years"), "it is 0 years; it must be a time from 1 days to 100 years"),
        (("--life", "-1 years"), "it is -1 years; it must be"),
        (("--use", "150 %"), "it is 150 %; it must be"),
        (("--interest", "-50 %"), "it is -50 %; it must be a fraction from 0 % to 100 %"),
        (("--chip-price", "inf USD"), "it is inf USD; it must be"),
        (("--tokens", "nan"), "'nan' is not a number of tokens: write it like '2T, 300B or 15e12'"),
        (("--tokens", "inf"), "it is inf; it must be"),
        (("--since", "banana"), "since is 'banana'; it must be a date like 2024"),
        (("--until", "2024-13"), "until is '2024-13'; it must be a date"),
        (("--tokens", "1e12"), "tokens need step and tokens_per_step too"),
    ],
)
def test_cost_takes_nothing_that_cannot_be(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    for more in ((), ("--json",)):
        reply = ask(tmp_path, "cost", "--on", "dgx-h100/64", *words, *more)
        assert (reply.status, reply.out) == (2, "")
        assert says in reply.last


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "estimate gpt3-175b --on dgx-a100/1024 --batch 1536 --tp 8 --pp 8 --seed -1",
            "'--seed': it is -1",
        ),
        ("estimate gpt3-175b --on dgx-a100/99999999999999999999 --batch 8", "a whole number from 1 to 100,000,000"),
        ("estimate gpt-oss-20b --on frontier/16 --batch 512 --tp 4 --expert-load inf", "'--expert-load': it is inf"),
        ("estimate mixtral-8x7b --on frontier/16 --batch 512 --tp 4 --expert-load nan", "'--expert-load': it is nan"),
        ("plan gpt2 --on dgx-h100/8 --batch 1000000000000000000000000000000", "from 1 to 1,000,000,000"),
        ("cost --on fugaku/9223372036854775808", "from 1 to 100,000,000"),
        ("plan dlrm --on dgx-b200/1000000000", "from 1 to 100,000,000"),
        ("estimate  --on dgx-h100/8 --batch 8", "the model is ''; name one"),
    ],
)
def test_counts_without_end_are_refused_at_once(tmp_path: Path, words: str, says: str) -> None:
    reply = ask(tmp_path, *words.split(" "))
    assert reply.status == 2
    assert says in reply.last
