"""An engine from one's own benchmark: known constants come back, and what cannot be fitted is said."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import volvelle
from tests.bench_files import (
    LOADS,
    aiperf_result,
    measured,
    other_constants,
    run_of,
    served_by,
    sglang_result,
    vllm_result,
)
from volvelle import DescriptionError, OutsideDomainError
from volvelle.simulation.batching.served import Served
from volvelle.verbs.serving.calibrate import calibrate_serving

WRITERS = {"vllm": vllm_result, "sglang": sglang_result}


@cache
def served(engine: str) -> tuple[tuple[int, Served], ...]:
    one = served_by(engine)
    return tuple((load[0], measured(run_of(one, *load), other_constants(one))) for load in LOADS)


def files(folder: Path, engine: str, **more: Any) -> list[Path]:
    found = []
    for clients, run in served(engine):
        file = folder / f"{clients}.json"
        file.write_text(json.dumps(WRITERS[engine](run, clients, **more)), "utf-8")
        found.append(file)
    return found


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_fitting_gives_known_constants_back(engine: str, tmp_path: Path) -> None:
    one = served_by(engine)
    wanted, held = other_constants(one), one.engine.constants
    found = calibrate_serving(files(tmp_path, engine), on="dgx-h100/1", engine=engine, tensor=1)
    for name in ("reading", "multiplying", "first_token"):
        assert name in found.fit.told
        assert getattr(found.fit.constants, name) == pytest.approx(getattr(wanted, name), rel=0.03)
        assert getattr(held, name) != pytest.approx(getattr(wanted, name), rel=0.1)
    before, after = found.fit.mean_error(after=False), found.fit.mean_error(after=True)
    assert before is not None
    assert after is not None
    assert before > 0.1
    assert after < 0.01


def test_a_saved_engine_predicts_the_runs_that_it_was_fitted_to(tmp_path: Path) -> None:
    mine = tmp_path / "Mine.yaml"
    found = calibrate_serving(files(tmp_path, "vllm"), on="dgx-h100/1", tensor=1, save=mine)
    assert found.saved == mine
    told = {"on": "dgx-h100/1", "load": "closed 16", "input": 800, "output": 80}
    own = volvelle.serve("llama3-8b", engine=str(mine), **told)  # type: ignore[arg-type]
    theirs = volvelle.serve("llama3-8b", **told)  # type: ignore[arg-type]
    assert own.load is not None
    assert theirs.load is not None
    assert own.load.latencies["tpot"].mean > 1.05 * theirs.load.latencies["tpot"].mean
    assert own.instance.engine.fitted_to.startswith("3 runs of llama3-8b")
    high, low = own.ranges["tpot"].high, own.ranges["tpot"].low
    assert high / low < theirs.ranges["tpot"].high / theirs.ranges["tpot"].low
    with pytest.raises(OutsideDomainError, match="fitted on hopper chips"):
        volvelle.serve("llama3-8b", on="dgx-b200/1", engine=str(mine))


def test_one_run_says_what_it_does_not_cover(tmp_path: Path) -> None:
    file = tmp_path / "aiperf.json"
    clients, run = served("vllm")[1]
    file.write_text(json.dumps(aiperf_result(run, clients)), "utf-8")
    found = calibrate_serving([file], on="dgx-h100/1", tensor=1)
    told = " ".join(found.notes)
    assert "one load only (16 clients)" in told
    assert "all are taken to be the mean" in told
    assert "intervals stay as wide" in told
    assert found.fit.error == {}
    after = found.fit.mean_error(after=True)
    assert after is not None
    assert after < 0.02


@pytest.mark.parametrize(
    ("told", "more", "said"),
    [
        ({"model": "llama3-70b"}, {}, "fit one model at a time"),
        ({}, {"model_id": "/data/own"}, "/data/own', which is not in the catalogue; name it by model"),
        ({"tensor": 2}, {"tp": "1"}, "you said 2; fit runs of one server at a time"),
        ({"version": "0.18.0"}, {}, "the rules that are followed are those of 0.19"),
        ({}, {"version": "0.6.3"}, "the rules that are followed are those of 0.19"),
        ({}, {"chip": "b200"}, "say the machine that it ran on"),
        ({}, {"tp": "two"}, "mend the metadata"),
    ],
)
def test_runs_of_something_else_are_refused(
    told: dict[str, Any], more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(DescriptionError, match=said):
        calibrate_serving(files(tmp_path, "vllm", **more), on="dgx-h100/1", **told)


def test_a_file_of_an_engine_is_checked_field_by_field(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    good = "engine: vllm\nfamily: hopper\nfitted_to: 3 runs\nconstants: {reading: 0.9}\n"
    for text, said in (
        ("engine: [", "is not YAML"),
        (good.replace("family: hopper\n", ""), "family"),
        (good.replace("reading", "speed"), "constants has no 'speed'"),
        (good.replace("0.9", "-1"), r"constants\.reading is -1"),
        (good + "error: {ttft: 0.5}\n", r"error\.ttft is 0\.5"),
        (good.replace("engine: vllm", "engine: tgi"), "serving engine"),
    ):
        mine.write_text(text, "utf-8")
        with pytest.raises(DescriptionError, match=said):
            volvelle.serve("llama3-8b", on="dgx-h100/1", engine=str(mine))
    mine.write_text(good, "utf-8")
    slow = volvelle.serve("llama3-8b", on="dgx-h100/1", engine=str(mine)).static
    mine.write_text(good.replace("0.9", "1.1"), "utf-8")
    fast = volvelle.serve("llama3-8b", on="dgx-h100/1", engine=str(mine)).static
    assert slow is not None
    assert fast is not None
    assert fast.tpot < slow.tpot
