"""A fleet is sized."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import volvelle
from volvelle.errors import DescriptionError, OutsideDomainError, UnknownNameError
from volvelle.report.documents.document import json_text

SHORT: dict[str, Any] = {"on": "dgx-h100", "tp": 1, "load": "poisson 30/s", "slo": "p95 tpot 30 ms"}


def described(**changes: Any) -> dict[str, Any]:
    service = {"model": "llama3-8b", "tensor": 1, "slo": "p95 tpot 30 ms", "load": {"rates": [5, 40, 5]}}
    fleet = {name: value for name, value in changes.items() if name in ("machines", "scaling", "spare", "check", "pay")}
    own = {name: value for name, value in changes.items() if name not in fleet}
    return {"name": "small", "machines": {"dgx-h100": None}, "services": [{**service, **own}], **fleet}


def write_trace(file: Path, rows: list[tuple[object, object, object]]) -> str:
    file.write_text("arrival_s,input_tokens,output_tokens\n" + "".join(f"{a},{i},{o}\n" for a, i, o in rows))
    return str(file)


def test_options_and_a_description_ask_the_same() -> None:
    by_options = volvelle.fleet("llama3-8b", **SHORT, check="none")
    by_fields = volvelle.fleet(described(load="poisson 30/s", check="none"))
    assert by_options.total == by_fields.total


def test_busy_hours_take_more_chips_and_are_followed() -> None:
    found = volvelle.fleet(described(scaling={"kind": "ahead"}))
    assert found.feasible, found.violations
    chip_hours = [hour.spent.chip_hours for hour in found.hours]
    assert chip_hours[1] > chip_hours[0]
    assert chip_hours[1] > chip_hours[2]
    assert [hour.held for hour in found.hours] == [None, True, None]
    (one,) = found.services
    assert one.checks[0].latencies["tpot"].percentiles[95.0] <= 0.03


def test_a_long_start_misses_limits_and_a_policy_that_looks_ahead_keeps_them() -> None:
    slow: dict[str, Any] = {**described(load={"rates": [5, 120]}), "cold_start": "20 min"}
    missed = volvelle.fleet(slow)
    (violation,) = missed.violations
    assert violation.name == "limits"
    assert "hour 1: p95 tpot" in violation.problem
    assert "--scaling ahead" in violation.cures[0]
    kept = volvelle.fleet({**slow, "scaling": {"kind": "ahead"}})
    assert kept.feasible
    assert f"{int(kept.chips.max()):,} chips at most" in violation.cures[0]


def test_the_cheapest_machine_is_taken_and_a_full_one_is_not() -> None:
    both = volvelle.fleet("llama3-8b", **{**SHORT, "on": ("dgx-h100", "dgx-a100")}, check="none")
    paid = {place.machine: place.dollars for place in both.tried}
    assert all(dollars is not None for dollars in paid.values())
    (taken,) = both.machines
    assert taken.name == min(paid, key=lambda name: paid[name] or 0.0)
    other = next(name for name in paid if name != taken.name)
    full = {taken.name: {"chips": 1}, other: None}
    moved = volvelle.fleet(described(load="poisson 30/s", machines=full, check="none"))
    assert [use.name for use in moved.machines] == [other]


def test_too_few_chips_are_told_with_how_many_are_enough() -> None:
    few = volvelle.fleet("llama3-8b", **{**SHORT, "on": "dgx-h100/1"}, check="none")
    (violation,) = few.violations
    assert violation.name == "chips"
    enough = violation.cures[0].split("--on ")[1].rstrip(")")
    assert volvelle.fleet("llama3-8b", **{**SHORT, "on": enough}, check="none").feasible


def test_prices_that_are_given_are_reckoned_with() -> None:
    dear = volvelle.fleet(described(machines={"dgx-h100": {"rent": "10 USD/h"}}, check="none"))
    assert dear.total is not None
    assert dear.total.rented == pytest.approx(10.0 * dear.total.chip_hours)


def test_money_for_tokens_in_and_out_is_all_of_it() -> None:
    total = volvelle.fleet("llama3-8b", **SHORT, check="none").total
    assert total is not None
    for pay, paid in (("rented", total.rented), ("owned", total.owned)):
        prompts, answers = total.per_million(pay)
        assert prompts is not None
        assert answers is not None
        assert (prompts * total.input_tokens + answers * total.output_tokens) / 1e6 == pytest.approx(paid)


def test_a_model_too_large_for_any_machine_has_reasons_and_cures() -> None:
    found = volvelle.fleet("llama3-405b", on=("dgx-h100", "dgx-a100"), load="poisson 1/s", slo="p99 ttft 9 s")
    (violation,) = found.violations
    assert found.services == ()
    assert found.total is None
    assert "on dgx-h100: llama3-405b in bf16 takes" in violation.problem
    assert "on dgx-a100:" in violation.problem
    assert violation.cures


def test_limits_that_nobody_can_keep_are_told_with_those_that_can() -> None:
    found = volvelle.fleet("llama3-8b", **{**SHORT, "slo": "p99 ttft 1 ms"})
    (violation,) = found.violations
    assert "one replica misses its limits: p99 ttft" in violation.problem
    limits = violation.cures[-1].split('"')[1]
    assert volvelle.fleet("llama3-8b", **{**SHORT, "load": "poisson 0.01/s", "slo": limits}, check="none").feasible


def test_a_trace_is_followed_and_its_tokens_are_all_there(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    arrival = np.sort(generator.uniform(0, 4000, 8000)).round(3)
    file = write_trace(tmp_path / "day.csv", [(second, 300, 50) for second in arrival])
    found = volvelle.fleet("llama3-8b", **{**SHORT, "load": f"trace {file} ×2"})
    assert found.total is not None
    assert found.total.requests == pytest.approx(16_000)
    assert found.total.input_tokens == pytest.approx(16_000 * 300)
    assert found.total.output_tokens == pytest.approx(16_000 * 50)
    assert len(found.hours) == 2


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "no requests"),
        ([(0, 5, 5)], "no rate"),
        ([(0, 5, 5), (9, "nan", 5)], "line 3"),
        ([(0, 5, 5), (9, -5, 5)], "line 3"),
        ([(0, 5, 5), (9, 5, 0)], "line 3"),
        ([(9, 5, 5), (0, 5, 5)], "sort the trace"),
        ([(0, 5, 5), ("inf", 5, 5)], "line 3"),
        ([(0, 5, 5), (4e7, 5, 5)], "days long"),
    ],
)
def test_a_trace_that_makes_no_sense_is_refused_with_its_place(
    tmp_path: Path, rows: list[tuple[object, object, object]], told: str
) -> None:
    file = write_trace(tmp_path / "bad.csv", rows)
    with pytest.raises(DescriptionError, match=told):
        volvelle.fleet("llama3-8b", **{**SHORT, "load": f"trace {file}"})


def test_a_request_that_no_cache_holds_is_named(tmp_path: Path) -> None:
    file = write_trace(tmp_path / "long.csv", [(0, 5, 5), (9, 10**7, 5)])
    with pytest.raises(OutsideDomainError, match="10,000,000 prompt"):
        volvelle.fleet("llama3-8b", **{**SHORT, "load": f"trace {file}"})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"load": None}, "load is missing"),
        ({"load": "closed 64"}, "no rate that a fleet could follow"),
        ({"load": "poisson nan/s"}, "rate"),
        ({"load": "poisson 0/s"}, "no request ever comes"),
        ({"load": "at once"}, "no rate that a fleet could follow"),
        ({"slo": "fast"}, "cannot be read"),
        ({"scaling": "psychic"}, "kind"),
        ({"on": ("dgx-h100", "dgx-h100/8")}, "twice"),
        ({"target": 2.0}, "target"),
        ({"cold_start": "-5 s"}, "cold_start"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        volvelle.fleet("llama3-8b", **{**SHORT, **changes})


def test_unknown_names_are_refused() -> None:
    for changes in ({"on": "dgx-h1000"}, {"engine": "vlmm"}, {"weights": "fp3"}):
        with pytest.raises(UnknownNameError):
            volvelle.fleet("llama3-8b", **{**SHORT, **changes})


def test_options_beside_a_file_are_refused() -> None:
    with pytest.raises(DescriptionError, match="leave on, spare away"):
        volvelle.fleet("fleet.yaml", on="dgx-h100", spare=1)


def test_an_answer_shows_itself() -> None:
    found = volvelle.fleet("llama3-8b", **SHORT, check="none")
    assert "chips in the busiest minute" in repr(found)
    document = found.to_dict()
    assert document["verb"] == "fleet"
    assert document["total"]["chips"] == int(found.chips.max())


@pytest.mark.parametrize(("engine", "told"), [("vllm", False), ("trtllm", True)])
def test_a_fleet_names_the_runs_that_its_ranges_rest_on(engine: str, told: bool) -> None:
    found = volvelle.fleet(described(engine=engine, weights="fp8", load="poisson 30/s", check="none"))
    (entry,) = json.loads(json_text("fleet", found))["services"][0]["range_basis"]
    assert entry["figure"] == "throughput"
    assert entry["calibrated"] is told
    assert entry["error_factor"] == found.services[0].capacity.error
    words = "63 runs of TensorRT-LLM" if told else "no run of vLLM"
    assert any(note.startswith("llama3-8b: range of throughput") and words in note for note in found.notes)
    if told:
        assert entry["serving_error"]["rows"] == 63
        assert entry["outside_calibration"] == ["kind of load"]
