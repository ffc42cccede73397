"""Price, power and energy of a mapping: those of a study's point, and a reason where nobody sells the machine."""

import json

import pytest

pytest.importorskip("duckdb")

import volvelle
from tests.conftest import ROOT
from volvelle.quantities import WATTS, show
from volvelle.report.documents.document import json_text
from volvelle.report.map_text import cost_words
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.verbs.map import map as map_graph

GRAPH = ROOT / "examples" / "graphs" / "unet.yaml"
ASKED = {"execution": "dataflow", "micro_batches": 64}


def test_a_mapping_costs_what_a_study_of_its_machine_says() -> None:
    measures = ["machine_usd", "power", "flops_per_usd", "flops_per_joule", "joules_per_sample"]
    study = read_study(
        {
            "name": "one",
            "workloads": [{"map": str(GRAPH), **ASKED}],
            "system": "sn30-node/8",
            "axes": {"accelerators": [8]},
            "measures": measures,
            "costs": {"model": "parts"},
        }
    )
    point = Evaluator(study=study).rows(0, 1).columns
    cost = map_graph(GRAPH, on="sn30-node/8", prices="parts", **ASKED).cost

    assert cost.machine_usd == pytest.approx(point["machine_usd"][0], rel=1e-9)
    assert cost.power == pytest.approx(point["power"][0], rel=1e-9)
    assert cost.energy == pytest.approx(64 * point["joules_per_sample"][0], rel=1e-9)
    assert cost.flops_per_usd == pytest.approx(point["flops_per_usd"][0], rel=1e-9)
    assert cost.flops_per_joule == pytest.approx(point["flops_per_joule"][0], rel=1e-9)


def test_a_machine_that_nobody_sells_has_no_market_price_and_says_why() -> None:
    variant = {"chip.memory.rate": "2x"}
    unsold = map_graph(GRAPH, on="sn30-node/8", set=variant, **ASKED).cost
    by_parts = map_graph(GRAPH, on="sn30-node/8", set=variant, prices="parts", **ASKED)

    assert unsold.machine_usd is unsold.energy is unsold.flops_per_usd is None
    assert "price variants of a chip by its parts" in unsold.missing
    assert by_parts.baseline is not None
    assert by_parts.cost.machine_usd is not None
    assert by_parts.baseline.cost.machine_usd is not None
    assert by_parts.cost.machine_usd > by_parts.baseline.cost.machine_usd


def test_costs_of_a_mapping_lie_where_a_cost_of_its_machine_has_them_at_both_ends_of_its_step() -> None:
    answer = map_graph(GRAPH, on="sn30-node/8", prices="parts", **ASKED)
    plan, ranges = answer.mapping.plan, answer.ranges
    assert plan is not None
    time = ranges["time"]
    machine = volvelle.cost(on="sn30-node/8", model="parts", step=plan.time, step_range=(time.low, time.high))
    ends = (machine.low, machine.high)
    assert all(end.step is not None for end in ends)
    assert (ranges["capex"].low, ranges["capex"].high) == pytest.approx([float(end.breakdown.capex) for end in ends])
    assert (ranges["power"].low, ranges["power"].high) == pytest.approx([float(end.breakdown.power) for end in ends])
    assert (ranges["energy"].low, ranges["energy"].high) == pytest.approx([float(end.step.energy) for end in ends])  # type: ignore[union-attr]
    assert (ranges["dollars"].low, ranges["dollars"].high) == pytest.approx([float(end.step.dollars) for end in ends])  # type: ignore[union-attr]
    assert ranges["capex"].varied == ("prices and powers of parts",)
    assert set(time.varied) < set(ranges["energy"].varied)
    per_joule = answer.cost.flops_per_joule
    assert per_joule is not None
    assert ranges["flops_per_joule"].low < per_joule < ranges["flops_per_joule"].high


def test_what_has_no_price_has_no_range_of_money_either() -> None:
    unsold = map_graph(GRAPH, on="sn30-node/8", set={"chip.memory.rate": "2x"}, **ASKED)
    assert unsold.cost.ranges == {}
    assert set(unsold.ranges) == {"time"}


def test_ranges_of_costs_are_in_text_and_json() -> None:
    answer = map_graph(GRAPH, on="sn30-node/8", prices="parts", **ASKED)
    told = json.loads(json_text("map", answer))["ranges"]
    assert {"time", "capex", "power", "energy", "dollars"} <= set(told)
    low, high = (show(told["power"][end], WATTS) for end in ("low", "high"))
    assert f"{low} … {high}" in cost_words(answer.cost)
