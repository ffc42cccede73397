"""Price, power and energy of a mapping: those of a study's point, and a reason where nobody sells the machine."""

import pytest

pytest.importorskip("duckdb")

from tests.conftest import ROOT
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
