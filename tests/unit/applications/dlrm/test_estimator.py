"""Recommendation models: tables and their placement, the cross network, the step and the reader of rows."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from volvelle import Catalogue, DescriptionError, MappingError, UnknownNameError, with_backward
from volvelle.applications.dlrm.constants import dlrm_model, dlrm_model_error, dlrm_stacks
from volvelle.applications.dlrm.estimator import EXCHANGES, DlrmModel, DlrmStep, dense_parameters
from volvelle.applications.dlrm.models import CRITEO_POOLING, CRITEO_ROWS, named_dlrm
from volvelle.applications.dlrm.plan import candidates, placements
from volvelle.applications.dlrm.rows import dlrm_measurements, dlrm_question
from volvelle.applications.dlrm.tables import TableElements, table_costs
from volvelle.interchange.dlrm_file import read_dlrm
from volvelle.laws.recommendation import distinct_count, gather_traffic, update_traffic
from volvelle.mapping.table_placement import Placement, TablePlacement, spread_tables
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables, dlrm
from volvelle.workload.operations import Phase

MLPERF = named_dlrm("dcnv2-mlperf")


def placed(shape: Dlrm, way: Placement) -> TablePlacement:
    return TablePlacement(ways=(way,) * len(shape.tables))


def test_the_tables_are_those_of_mlperf() -> None:
    """26.135627264 billion parameters and 214 lookups, as its rules state."""
    assert sum(CRITEO_ROWS) * 128 == 26_135_627_264
    assert sum(CRITEO_POOLING) == 214


def test_a_cross_network_has_two_narrow_products_a_layer() -> None:
    workload = with_backward(dlrm(MLPERF, batch=1))
    wide, narrow = MLPERF.top_input, MLPERF.cross_rank
    bottom = 13 * 512 + 512 * 256 + 256 * 128
    top = wide * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256
    assert wide == 27 * 128
    assert dense_parameters(MLPERF) == bottom + top + 3 * 2 * wide * narrow
    assert workload.flops() == 2 * dense_parameters(MLPERF)
    assert workload.flops(phase=Phase.BACKWARD) == pytest.approx(2 * workload.flops(), rel=1e-3)


def test_as_many_different_rows_are_drawn_as_there_are_or_as_were_asked_for() -> None:
    assert distinct_count(1.0, 1000.0) == pytest.approx(1.0)
    assert distinct_count(1e9, 1000.0) == pytest.approx(1000.0)
    assert distinct_count(100.0, 1.0) == pytest.approx(1.0)
    draws = np.array([1.0, 10.0, 100.0])
    assert np.all(np.asarray(distinct_count(draws, 50.0)) <= np.minimum(draws, 50.0) + 1e-9)


def test_narrow_rows_are_read_with_waste() -> None:
    assert gather_traffic(10.0, 512.0) == 5120
    assert gather_traffic(10.0, 8.0) == 640
    assert update_traffic(10.0, 512.0, state=512.0, gradients=100.0) == 2 * 10 * 1024 + 100


def test_tables_are_spread_so_that_the_busiest_has_no_more_than_it_must() -> None:
    places = spread_tables([5.0, 4.0, 3.0, 3.0, 3.0], 2)
    loads = [sum(cost for cost, place in zip([5, 4, 3, 3, 3], places, strict=True) if place == chip) for chip in (0, 1)]
    assert max(loads) == 10
    assert sum(loads) == 18


def test_bytes_of_all_chips_hold_every_table_once() -> None:
    shape = replace(MLPERF, tables=MLPERF.tables[:3])
    elements = TableElements(state=0.0)
    whole = sum(each.parameters for each in shape.tables) * 4.0
    for way in (Placement.ROW, Placement.COLUMN):
        costs = table_costs(shape, placed(shape, way), batch=1024, chips=8, elements=elements)
        assert 8 * costs.memory == pytest.approx(whole)
    copied = table_costs(shape, placed(shape, Placement.REPLICATED), batch=1024, chips=8, elements=elements)
    assert copied.memory == pytest.approx(whole)
    assert copied.vectors == 0


def test_rows_over_many_chips_send_a_vector_for_each_chip_that_holds_some() -> None:
    one = EmbeddingTables(count=1, rows=10**7, width=128, pooling=1)
    shape = replace(MLPERF, tables=(one, replace(one, pooling=1000)), interaction="concatenate")
    elements = TableElements()

    def vectors(*ways: Placement) -> float:
        costs = table_costs(shape, TablePlacement(ways=ways), batch=4096, chips=16, elements=elements)
        return float(costs.vectors)

    row, column = Placement.ROW, Placement.COLUMN
    assert vectors(row, column) == pytest.approx(vectors(column, column))
    assert vectors(column, row) == pytest.approx(vectors(column, column) * 17 / 2, rel=1e-3)


def test_a_placement_for_another_number_of_tables_is_refused() -> None:
    with pytest.raises(MappingError, match="give one each"):
        table_costs(MLPERF, TablePlacement(ways=(Placement.ROW,)), batch=1, chips=1, elements=TableElements())


def test_the_first_of_a_ranking_fits_and_is_no_slower_than_any_plain_placement(catalogue: Catalogue) -> None:
    cluster, model = catalogue.cluster("dgx-h100/8"), DlrmModel()
    step = DlrmStep(shape=MLPERF, batch=55296, matrix_element="fp16")
    found = model.rank(candidates(step, 8), cluster, top=3)
    assert found.best[0].feasible
    assert found.best[0].memory_bytes < cluster.chip.memory.capacity
    for way in Placement:
        plain = model.estimate(step, cluster, placed(MLPERF, way))
        assert not plain.feasible or plain.time >= found.best[0].time * (1 - 1e-12)


def test_tables_too_large_for_a_chip_are_a_violation_with_the_bytes_needed(catalogue: Catalogue) -> None:
    step = DlrmStep(shape=MLPERF, batch=4096, matrix_element="fp16")
    found = DlrmModel().rank(candidates(step, 1), catalogue.cluster("dgx-h100/1"))
    assert not found.best
    (violation,) = found.first.violations
    assert violation.name == "memory"
    assert violation.problem.startswith("the fullest chip needs")
    assert violation.cures == (), "an estimator tries no other question; the command does"


def test_every_placement_is_tried_once() -> None:
    found = placements(MLPERF, 8)
    assert len(set(found)) == len(found)
    assert {way for each in found for way in each.ways} == set(Placement)


def test_dfmodels_recommendation_model_can_be_placed(catalogue: Catalogue) -> None:
    shape = named_dlrm("dlrm-793b")
    assert sum(each.parameters for each in shape.tables) == pytest.approx(793e9, rel=0.001)
    step = DlrmStep(shape=shape, batch=65536)
    found = DlrmModel().rank(candidates(step, 1024), catalogue.cluster("dgx-h100/1024"), top=1)
    assert found.best[0].feasible


def test_models_have_names_or_files(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="recommendation model"):
        named_dlrm("abacus")
    file = tmp_path / "own.json"
    written = {"dense": 4, "bottom": [8], "top": [2, 1], "tables": [{"count": 2, "rows": 10, "width": 8, "pooling": 3}]}
    file.write_text(json.dumps(written), "utf-8")
    assert read_dlrm(file).tables[0].pooling == 3
    file.write_text(json.dumps({**written, "colour": "red"}), "utf-8")
    with pytest.raises(DescriptionError, match="unknown colour"):
        read_dlrm(file)


@pytest.mark.parametrize("rows", [{}, {"a": 5}, [], None, "many", True])
def test_what_is_no_number_is_refused_where_a_table_has_one(tmp_path: Path, rows: object) -> None:
    file = tmp_path / "mine.json"
    table = {"count": 2, "rows": rows, "width": 8}
    file.write_text(json.dumps({"dense": 4, "bottom": [8], "top": [2, 1], "tables": [table]}), "utf-8")
    with pytest.raises(DescriptionError, match="tables: rows is"):
        read_dlrm(file)


def test_constants_are_kept_by_software() -> None:
    assert set(dlrm_stacks()) == {"hugectr", "other"}
    with pytest.raises(UnknownNameError, match="software"):
        dlrm_model("abacus")


def test_rows_put_questions_or_say_why_not(catalogue: Catalogue) -> None:
    table = dlrm_measurements()
    assert not table.unread
    assert len(table.rows) == 91
    asked = {row.head.row_id: dlrm_question(row, catalogue) for row in table.rows}
    mlperf = asked["D008"]
    assert not isinstance(mlperf, str)
    assert mlperf.work.shape.interaction == "cross"
    assert asked["D005"] == "the catalogue has no cluster of 'A40'"


def test_vectors_added_up_inside_nodes_leave_them_fewer_and_cost_nothing_more_in_one_node(catalogue: Catalogue) -> None:
    step, placement = DlrmStep(shape=MLPERF, batch=131072), placed(MLPERF, Placement.ROW)
    for machine, less in (("dgx-h100/8", False), ("dgx-h100/64", True)):
        cluster = catalogue.cluster(machine)
        straight, relayed = (DlrmModel(relayed=way).estimate(step, cluster, placement).time for way in (False, True))
        assert relayed < 0.8 * straight if less else relayed == straight


def test_a_network_that_no_step_crossed_widens_by_its_share_of_the_step(catalogue: Catalogue) -> None:
    step = DlrmStep(shape=MLPERF, batch=135168)
    widths = []
    for machine in ("dgx-h100/8", "dgx-h100/64"):
        cluster = catalogue.cluster(machine)
        model = dlrm_model("hugectr", cluster)
        found = model.rank(candidates(step, cluster.accelerators), cluster, top=1)
        span = found.best[0].ranges["time"]
        widths.append(span.high / span.low)
        assert (EXCHANGES in span.varied) == (machine == "dgx-h100/64")
    # Wider than eight chips that were fitted, and far narrower than a link of which nothing is known.
    assert widths[0] < widths[1] < dlrm_model_error("hugectr").link ** 2
