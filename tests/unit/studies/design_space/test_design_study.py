"""Studies as they are written: what is read, and what is refused with a reason."""

from typing import Any

import pytest

from tests.sweeps import QUICK
from volvelle.applications.hpl_mxp.application import HPL_MXP
from volvelle.applications.stencil.application import STENCIL
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError, UnitError
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.measures import MEASURES, TPOT, TTFT


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"axes": {"chip.memory.rat": ["2 TB/s"]}}, "did you mean 'chip.memory.rate'"),
        ({"axes": {"chip.memory.rate": [2e12]}}, "has no unit"),
        ({"axes": {"chip.memory.rate": ["2 TB"]}}, "a data rate is wanted"),
        ({"axes": {"chip.memory.rate": {"from": "2 TB/s", "to": "4 TB/s"}}}, "from, to and points"),
        ({"axes": {"chip.memory.rate": {"values": ["2 TB/s"], "times": [1.0]}}}, "either values"),
        ({"axes": {"chip.memory.rate": []}}, "empty"),
        (
            {"axes": {"scale_out.rate": {"from": "0 GB/s", "to": "4 GB/s", "points": 3, "scale": "log"}}},
            "a data rate from",
        ),
        ({"axes": {"scale_in.rate": {"times": [1]}}}, "scale_up.rate"),
        ({"axes": {"mapping.tensr": [1]}}, "did you mean 'tensor'"),
        ({"objectives": ["speed"]}, "there is no measure 'speed'"),
        ({"objectives": ["least most time"]}, "is no objective"),
        ({"constraints": ["powr <= 10 MW"]}, "did you mean 'power'"),
        ({"set": {"chip.power": "chip.powr * 2"}}, "chip.power"),
        ({"set": {"accelerators": "4"}}, "number of the machine"),
        ({"mapping": {"policy": "best"}}, "searched at every point"),
        ({"mapping": {"policy": "fixed", "tensor": [4, 8]}}, "several values"),
        ({"mapping": {"policy": "fixed", "schedule": "1f2b"}}, "1f1b"),
        ({"facet": "chips"}, "facet"),
        ({"workloads": []}, "no workloads"),
        ({"workloads": [{"train": "gpt3-175b"}]}, "batch"),
        ({"workloads": [{"batch": 8}]}, "one of train"),
        ({"workloads": [{"run": "fft"}]}, "size"),
        ({"workloads": [{"run": "stencil"}]}, "stencil needs size: Side of the cube"),
        ({"workloads": [{"run": "stencil", "size": 64, "points": 9}]}, "points"),
        ({"workloads": [{"run": "hpl", "points": 27}]}, "means nothing to hpl"),
        ({"workloads": [{"run": "hpl", "batch": 8}]}, "means nothing to hpl"),
        ({"workloads": [{"run": "hpcg", "tokens": 1e9}]}, "means nothing to hpcg"),
        ({"workloads": [{"run": "hpl"}], "axes": {"workload.batch": [8, 16]}}, "no workload of the study has it"),
        ({"objectives": []}, "at least 1"),
        ({"objectives": ["time", "mfu", "memory", "chips", "days"]}, "at most 4"),
        ({"axes": {"chip.memory.rate": {"times": []}}}, "empty"),
        ({"constraints": ["days <= 30 days"]}, "days has no unit"),
        ({"constraints": ["memory <= 10 MW"]}, "memory is a data size"),
        ({"set": {"chip.power": "3350"}}, "has no unit"),
        ({"set": {"chip.power": "3 TB"}}, "a power is wanted"),
        ({"set": {"chip.memory.rate": "base.chip.memory.rate * 2"}}, "on an axis as well"),
        ({"axes": {"scale_up.rate": ["1 TB/s"], "network.0.rate": ["2 TB/s"]}}, "on two axes"),
        ({"axes": {"chip": ["h100-sxm"], "chip.memory.rate": {"times": [1]}}}, "multiples of what"),
        ({"mapping": {"policy": "fixed", "micro_batch": 0}}, "from 1 to 1,000,000,000"),
        ({"mapping": {"policy": "fixed", "tensor": -1}}, "from 1 to 100,000,000"),
        ({"mapping": {"policy": "fixed", "zero": 4}}, "from 0 to 3"),
        ({"workloads": [{"run": "dlrm", "batch": 8}]}, "model"),
        ({"workloads": [{"train": "gpt2", "batch": 8}, {"train": "gpt2", "batch": 16}]}, "name of its own"),
        ({"costs": {"modell": "parts"}}, "costs.modell"),
        ({"nmae": "x"}, "nmae"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_study({**QUICK, **changes})
    assert said in str(caught.value)


def test_a_field_on_two_axes_is_refused() -> None:
    axes = {"a": {"linked": {"chip.memory.rate": ["2 TB/s"]}}, "chip.memory.rate": ["1 TB/s"]}
    with pytest.raises(DescriptionError, match="on two axes"):
        read_study({**QUICK, "axes": axes})


def test_the_order_of_a_file_does_not_make_another_study() -> None:
    assert read_study(QUICK).fingerprint == read_study(dict(reversed(QUICK.items()))).fingerprint


def test_another_value_makes_another_study() -> None:
    assert read_study(QUICK).fingerprint != read_study({**QUICK, "seed": 1}).fingerprint


def test_money_of_a_chip_nobody_sells_is_refused_by_the_market_and_priced_by_parts() -> None:
    axes = {"chip.memory.capacity": ["200 GB"]}
    quick = {**QUICK, "axes": axes, "measures": ["usd"]}
    with pytest.raises(Exception, match="price variants of a chip by its parts"):
        Evaluator(study=read_study({**quick, "costs": {"model": "market"}})).rows(0, 1)
    assert Evaluator(study=read_study({**quick, "costs": {"model": "parts"}})).rows(0, 1).columns["usd"][0] > 0


def test_a_price_of_ones_own_needs_the_model_that_looks_at_it() -> None:
    quick = {**QUICK, "axes": {"chip.price": ["10 kUSD", "20 kUSD"]}, "measures": ["machine_usd"]}
    with pytest.raises(DescriptionError, match="model: list"):
        Evaluator(study=read_study({**quick, "costs": {"model": "parts"}})).rows(0, 2)
    cheap, dear = Evaluator(study=read_study({**quick, "costs": {"model": "list"}})).rows(0, 2).columns["machine_usd"]
    assert dear - cheap == pytest.approx(1024 * 10_000 * 1.5)  # hosts and network are half of the chips on top


def test_twice_the_logic_costs_more_and_takes_more_power_by_parts() -> None:
    form = {
        **QUICK,
        "axes": {"chip.matrix_rate": {"times": [1, 2]}},
        "measures": ["machine_usd", "power"],
        "costs": {"model": "parts"},
    }
    found = Evaluator(study=read_study(form)).rows(0, 2).columns
    assert found["machine_usd"][1] > found["machine_usd"][0]
    assert found["power"][1] > found["power"][0]


def test_a_computed_field_follows_the_axes() -> None:
    form = {**QUICK, "axes": {"scale_out.rate": {"times": [1, 2]}}, "set": {"scale_up.rate": "scale_out.rate * 4"}}
    found = Evaluator(study=read_study(form)).rows(0, 2).columns["time"]
    same = {**QUICK, "axes": {"both": {"linked": {"scale_out.rate": ["25 GB/s"], "scale_up.rate": ["100 GB/s"]}}}}
    assert found[0] == Evaluator(study=read_study(same)).rows(0, 1).columns["time"][0]
    assert found[1] < found[0]


def test_a_mix_is_the_sum_of_its_workloads_by_weight() -> None:
    form = {
        **QUICK,
        "workloads": [
            {"train": "gpt3-175b", "batch": 1536, "weight": 2},
            {"train": "megatron-145b", "batch": 2304, "weight": 3},
        ],
        "axes": {"chip.memory.rate": {"times": [1, 2]}},
        "objectives": ["time"],
    }
    found = Evaluator(study=read_study(form)).rows(0, 2).columns
    assert found["time"] == pytest.approx(2 * found["time.gpt3-175b"] + 3 * found["time.megatron-145b"])


def test_training_and_linpack_share_a_machine_in_one_study() -> None:
    form = {
        "name": "mix",
        "workloads": [
            {"train": "llama3-8b", "batch": 256, "weight": 10},
            {"run": "hpl"},
            {"run": "hpl-mxp"},
            {"run": "hpcg"},
            {"run": "stencil", "size": 1024, "points": 27},
            {"run": "fft", "size": 1024},
            {"run": "dlrm", "model": "dcnv2-mlperf", "batch": 65536},
        ],
        "system": "dgx-h100/32",
        "axes": {"chip.memory.rate": {"times": [1, 2]}},
        "mapping": {"policy": "best", "tensor": [1, 2, 4]},
        "objectives": ["time"],
        "measures": ["mfu"],
    }
    found = Evaluator(study=read_study(form)).rows(0, 2)
    assert found.feasible.all()
    for name in ("llama3-8b", "hpl", "hpl-mxp", "hpcg", "stencil", "fft", "dlrm"):
        slow, fast = found.columns[f"time.{name}"]
        assert 0 < fast <= slow
    assert 0 < found.columns["mfu"][0] < 1


def test_runs_of_a_study_are_the_plans_of_their_commands() -> None:
    works = [{"run": "stencil", "size": 1024, "points": 27}, {"run": "hpl-mxp"}]
    form = {"name": "runs", "workloads": works, "system": "dgx-h100/32", "axes": {"accelerators": [32]}}
    found = Evaluator(study=read_study({**form, "objectives": ["time"]})).rows(0, 1).columns
    machine = Catalogue().cluster("dgx-h100/32")
    for asked, options in ((STENCIL, {"grid": "1024", "points": "27"}), (HPL_MXP, {})):
        question = asked.space(machine, Catalogue(), asked.plan_question(on=machine, **options))
        best = asked.planner(question).rank(question.candidates, question.system, top=1).best[0]
        assert found[f"time.{asked.word}"][0] == pytest.approx(best.time, rel=1e-12)


def test_every_measure_can_be_asked_for() -> None:
    known = [name for name in MEASURES if name not in (TTFT, TPOT)]  # which workloads have that are served
    form = {
        **QUICK,
        "measures": known,
        "axes": {"scale_out.rate": {"times": [1.0]}},
        "costs": {"model": "parts"},
    }
    found = Evaluator(study=read_study(form)).rows(0, 1).columns
    assert set(known) <= set(found)
    assert all(found[name][0] > 0 for name in known if name != "gap")
    assert found["gap"][0] == 0, "every layout was looked at"


def test_days_without_tokens_are_refused() -> None:
    form = {**QUICK, "workloads": [{"train": "gpt3-175b", "batch": 1536}]}
    with pytest.raises(DescriptionError, match="tokens"):
        Evaluator(study=read_study(form)).rows(0, 1)


def test_workloads_that_differ_in_gradients_alone_hold_different_memory() -> None:
    work = {"train": "bloom-1b7", "batch": 8}
    form = {
        "name": "gradients",
        "workloads": [
            {"name": "narrow", **work, "gradient_element": "bf16"},
            {"name": "wide", **work, "gradient_element": "fp32"},
        ],
        "system": "dgx-h100/8",
        "axes": {"chip.memory.capacity": ["20 GB", "35 GB"]},
        "mapping": {"policy": "best", "tensor": [1], "zero": [0], "pipeline": [1]},
    }
    both = Evaluator(study=read_study(form)).rows(0, 2)
    wide = Evaluator(study=read_study({**form, "workloads": form["workloads"][1:]})).rows(0, 2)  # type: ignore[index]
    assert both.columns["memory"].tolist() == wide.columns["memory"].tolist()
    assert both.reason.tolist() == wide.reason.tolist()


def test_the_batch_of_a_recommendation_model_can_be_an_axis() -> None:
    form = {
        "name": "batch",
        "workloads": [{"run": "dlrm", "model": "dlrm-criteo", "batch": 65536}],
        "system": "dgx-h100/8",
        "axes": {"workload.batch": [16384, 65536]},
        "objectives": ["samples_per_s"],
    }
    few, many = Evaluator(study=read_study(form)).rows(0, 2).columns["samples_per_s"]
    assert many > few


def test_tokens_of_work_that_has_none_are_refused() -> None:
    form = {"name": "x", "workloads": [{"run": "hpcg"}], "system": "dgx-h100/8", "axes": {"accelerators": [8, 16]}}
    with pytest.raises(DescriptionError, match="no workload"):
        Evaluator(study=read_study({**form, "objectives": ["tokens_per_s"]})).rows(0, 1)


def test_a_chip_nobody_sells_has_no_market_price() -> None:
    form = {**QUICK, "axes": {"chip.vector_rate": {"times": [1, 4]}}, "measures": ["usd"]}
    with pytest.raises(Exception, match="nobody sells"):
        Evaluator(study=read_study({**form, "costs": {"model": "market"}})).rows(0, 2)


def test_base_is_the_machine_the_study_starts_from() -> None:
    form = {
        **QUICK,
        "axes": {"accelerators": [1024, 2048]},
        "set": {"scale_out.rate": "base.scale_out.rate * accelerators / base.accelerators"},
    }
    found = Evaluator(study=read_study(form)).rows(0, 2).columns["time"]
    plain = {**QUICK, "axes": {"accelerators": [2048]}, "set": {"scale_out.rate": "50 GB/s"}}
    assert found[1] == Evaluator(study=read_study(plain)).rows(0, 1).columns["time"][0]


def test_a_machine_without_the_network_of_an_axis_is_told_by_name() -> None:
    form = {
        **QUICK,
        "axes": {"system": ["dgx-h100/8", "tpu-v5p-pod/64"], "scale_out.rate": ["50 GB/s"]},
        "mapping": {"policy": "fixed"},
    }
    with pytest.raises(DescriptionError, match="tpu-v5p-pod"):
        Evaluator(study=read_study(form)).rows(0, 2)


def test_a_unit_of_another_kind_is_a_unit_error() -> None:
    with pytest.raises(UnitError):
        read_study({**QUICK, "axes": {"chip.memory.rate": ["2 TB"]}})
