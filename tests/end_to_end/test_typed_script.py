"""A type checker accepts a script that uses the package as documented, and rejects each wrong use."""

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RIGHT = """
from pathlib import Path

import volvelle
from volvelle import (
    AtOnce,
    Closed,
    Draft,
    Eagle,
    FixedLengths,
    Gamma,
    LatencyLimit,
    LengthsAround,
    LengthsUpTo,
    LoadedServing,
    Mtp,
    Ngram,
    Parallel,
    Poisson,
    Ramp,
    Range,
    RangedFigure,
    StaticServing,
    Trace,
)


def tail(load: Poisson | Closed) -> float:
    answer = volvelle.serve("llama3-8b", on="dgx-h100/8", load=load, lengths=LengthsAround(0.1))
    assert isinstance(answer, LoadedServing)
    median: float = answer.ttft.median
    around: Range | None = answer.tpot.range
    print(answer.itl.p95, answer.e2el.p99, answer.tpot.mean, median, around, f"{answer.ttft:.3f}")
    tokens: float = answer.output_throughput.value
    return answer.ttft.p99 + float(answer.memory) + tokens


def batch() -> RangedFigure:
    answer = volvelle.serve("llama3-8b", on="dgx-h100/8", batch=8, speculate=Eagle(3, tree=(4, 2), acceptance=0.8))
    assert isinstance(answer, StaticServing)
    low: float | None = answer.latency.low
    print(low, answer.owned_token_cost.value)
    return answer.ttft


limits = [LatencyLimit("ttft", 2.0, percentile=99), LatencyLimit("tpot", 0.05)]
trace = Trace(Path("requests.csv"), scale=1.5)
drafters = [Mtp(1), Parallel(5), Ngram(4), Draft("llama3-8b", 4, tp=1)]
volvelle.serve_split(
    "llama3-8b", on="dgx-h100/8", prefill="1x tp1", decode="1x tp1", load=Gamma(12, 0.5), lengths=LengthsUpTo(0.8)
)
plan = volvelle.plan_serving("llama3-70b", on="dgx-h100/8", load=trace, slo=limits, speculate=drafters)
print(plan.ttft.p99, plan.goodput.value)
fleet = volvelle.fleet("llama3-8b", on="dgx-h100", load="poisson 30/s", slo=limits[0], lengths=FixedLengths())
print(fleet.peak_chips.high, fleet.cost)
for load in (Ramp(1, 20), AtOnce(), "closed 64"):
    volvelle.serve("llama3-8b", on="dgx-h100/8", load=load)

step = volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, tensor=2)
seconds: float = step.time.value
print(seconds, step.memory.range, step.throughput, step.cost.low)
days: RangedFigure = volvelle.job("llama3-8b", on="dgx-h100/64", tokens="100B", batch=512).days
fastest = volvelle.plan("llama3-8b", on="dgx-h100/8", batch=64).time
scaled = [point.time.value for point in volvelle.scale("llama3-8b", on="dgx-h100").points]
print(days, fastest, scaled, volvelle.collective("all-reduce", "1 GB", on="dgx-h100/64").duration)
"""
WRONG = """
import volvelle
from volvelle import Closed, Eagle, LatencyLimit, LoadedServing, Ngram, Poisson, StaticServing, Trace

asked = {"on": "dgx-h100/8"}
volvelle.serve("llama3-8b", on="dgx-h100/8", load=12)  # wrong
volvelle.serve("llama3-8b", on="dgx-h100/8", load=Eagle(3))  # wrong
volvelle.serve("llama3-8b", on="dgx-h100/8", load=Closed(4), lengths=0.2)  # wrong
volvelle.serve("llama3-8b", on="dgx-h100/8", batch=1, speculate=3)  # wrong
volvelle.plan_serving("llama3-8b", on="dgx-h100/8", load=Poisson(1), slo=2.0)  # wrong
volvelle.fleet("llama3-8b", on="dgx-h100", load=Poisson(1), slo=[Poisson(1)])  # wrong
Poisson("12/s")  # wrong
Trace(3)  # wrong
Ngram(4, tree=(2,))  # wrong
LatencyLimit("tfft", 2.0)  # wrong
Closed(8).clients = 9  # wrong


def figures(batch: StaticServing, load: LoadedServing) -> None:
    print(batch.itl)  # wrong
    print(load.latency)  # wrong
    print(load.ttft.p98)  # wrong
    print(load.ttft.range.low)  # wrong
    print(batch.ttft / 2)  # wrong
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy reports of both scripts; it finds the package's own types in the cache of the repository."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "right_script.py").write_text(RIGHT, "utf-8")
    (folder / "wrong_script.py").write_text(WRONG, "utf-8")
    scripts = [str(folder / name) for name in ("right_script.py", "wrong_script.py")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *scripts],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout


def test_a_script_that_uses_the_package_as_documented_has_no_type_errors(told: str) -> None:
    assert files("volvelle").joinpath("py.typed").is_file()
    assert [line for line in told.splitlines() if "wrong_script.py" not in line] == []


def test_every_wrong_use_is_a_type_error_where_it_stands(told: str) -> None:
    wrong = {number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("# wrong")}
    rejected = {int(found) for found in re.findall(r"wrong_script\.py:(\d+): error", told)}
    assert rejected == wrong, told
