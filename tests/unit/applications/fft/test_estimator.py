"""Three-dimensional transforms: arithmetic, layouts, exchanges and the reader of rows."""

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import small_chip, small_cluster
from volvelle import Catalogue, Cluster, DescriptionError
from volvelle.applications.fft.constants import fft_model_error, travelled_by
from volvelle.applications.fft.estimator import FftLayout, FftModel, FftProblem, fft_layouts
from volvelle.applications.fft.rows import fft_measurements, fft_question
from volvelle.estimators.contract import Ranking
from volvelle.estimators.exchange import exchange_time
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.fourier import half_spectrum, transform_passes, transform_work

CHIP = small_chip(vector_rates={"fp32": 20e12, "fp64": 10e12})
CUBE = FftProblem(shape=(1024, 1024, 1024))


def rank_fft(problem: FftProblem, cluster: Cluster, *, top: int = 8) -> Ranking[FftProblem, FftLayout]:
    return FftModel().rank([(problem, layout) for layout in fft_layouts(cluster.accelerators)], cluster, top=top)


def test_three_sides_together_are_the_usual_count() -> None:
    points = 1024.0**3
    parts = sum(float(transform_work(points, 1024.0)) for _ in range(3))
    assert parts == pytest.approx(5 * points * np.log2(points))
    assert CUBE.work == pytest.approx(parts)


def test_a_long_transform_passes_memory_twice() -> None:
    assert transform_passes(4096.0, held=4096.0) == 1
    assert transform_passes(4097.0, held=4096.0) == 2


def test_real_data_send_half_a_spectrum() -> None:
    assert half_spectrum(1024.0, element=8.0) == pytest.approx(8.0, rel=0.01)
    real = FftProblem(shape=CUBE.shape, real=True)
    assert real.point_bytes == pytest.approx(CUBE.point_bytes / 2, rel=0.01)
    assert real.work == pytest.approx(CUBE.work / 2)


def test_single_precision_moves_half_the_bytes() -> None:
    single = FftProblem(shape=CUBE.shape, element="fp32")
    assert single.point_bytes == CUBE.point_bytes / 2


def test_what_leaves_a_node_is_not_counted_inside_it() -> None:
    """Of eight chips' data in two nodes of four, three eighths stay inside and four go out."""
    cluster = small_cluster(2, chip=CHIP)
    inner, outer = cluster.dimensions
    quiet = replace(inner.link, latency=0.0, setup=0.0, efficiency=1.0)
    cluster = replace(
        cluster,
        dimensions=(
            replace(inner, size=4, link=replace(quiet, rate=3.0)),
            replace(outer, size=2, link=replace(quiet, rate=4.0)),
        ),
    )
    found = exchange_time(8.0, SustainedRates.of(cluster, "bf16"), group=8.0, stride=1.0)
    assert float(found) == pytest.approx(3.0 / 3.0 + 4.0 / 4.0)


def test_slabs_and_every_grid_of_pencils_are_considered() -> None:
    layouts = fft_layouts(12)
    assert layouts[0] == FftLayout(rows=12, slab=True)
    assert {(each.rows, each.columns) for each in layouts[1:]} == {(1, 12), (2, 6), (3, 4), (4, 3), (6, 2), (12, 1)}


def test_the_first_of_a_ranking_is_no_slower_than_any_other() -> None:
    cluster = small_cluster(4, chip=CHIP)
    found = rank_fft(CUBE, cluster, top=100)
    times = [each.time for each in found.best]
    assert times == sorted(times)
    assert found.considered == len(fft_layouts(32))


def test_a_table_of_layouts_prices_each_as_it_is_priced_alone() -> None:
    cluster, model = small_cluster(4, chip=CHIP), FftModel()
    rows, columns = np.array([1.0, 4.0, 8.0]), np.array([32.0, 8.0, 4.0])
    table = model.times(CUBE, cluster, rows=rows, columns=columns, slab=False)
    for place in range(3):
        alone = model.times(CUBE, cluster, rows=rows[place], columns=columns[place], slab=False)
        for name, column in table.items():
            assert np.broadcast_to(column, 3)[place] == pytest.approx(float(alone[name]))


def test_slabs_that_are_thinner_than_a_plane_cannot_run() -> None:
    cluster = small_cluster(8, chip=CHIP)
    found = rank_fft(FftProblem(shape=(256, 32, 32)), cluster, top=100)
    assert all(not each.decision.slab for each in found.best)
    assert found.refused[0].violations[0].name == "cut"


def test_bricks_cost_an_exchange_more_at_either_end() -> None:
    cluster, model = small_cluster(4, chip=CHIP), FftModel()
    layout = FftLayout(rows=8, columns=4)
    bricks = replace(CUBE, bricks=True)
    assert model.estimate(bricks, cluster, layout).time > model.estimate(CUBE, cluster, layout).time


def test_nonsense_is_refused() -> None:
    with pytest.raises(DescriptionError, match="positive number"):
        FftProblem(shape=(0, 4, 4))
    with pytest.raises(DescriptionError, match="fp32 and fp64"):
        FftProblem(shape=(4, 4, 4), element="fp8")
    with pytest.raises(DescriptionError, match="slabs are cut along one side"):
        FftLayout(rows=2, columns=2, slab=True)


def test_doubt_is_larger_where_nothing_was_calibrated_than_where_something_was_on_the_whole(
    catalogue: Catalogue,
) -> None:
    known, other = catalogue.cluster("v100-pcie-nccl/8"), catalogue.cluster("dgx-a100/8")
    assert fft_model_error(other).on(other) > fft_model_error().inside > fft_model_error(known).on(known) > 1


def test_doubt_is_of_the_way_that_data_travel(catalogue: Catalogue) -> None:
    ways = {name: catalogue.cluster(name) for name in ("v100-pcie-nccl/8", "v100-pcie-staged/8", "v100-pcie-mpi/8")}
    assert [travelled_by(cluster) for cluster in ways.values()] == ["nccl", "host-staged", "cuda-aware-mpi"]
    inside = [fft_model_error(cluster).inside for cluster in ways.values()]
    assert inside == sorted(inside)
    assert travelled_by(catalogue.cluster("dgx-a100/8")) == ""
    assert fft_model_error(catalogue.cluster("dgx-a100/8")) == fft_model_error()


def test_rows_put_questions_or_say_why_not(catalogue: Catalogue) -> None:
    table = fft_measurements()
    assert not table.unread
    assert len(table.rows) == 153
    asked = {row.head.row_id: fft_question(row, catalogue) for row in table.rows}
    single = asked["F151"]
    assert not isinstance(single, str)
    assert single.decision.exchange == (4, 2)
    assert asked["F171"] == "its source does not say which accelerator it ran on"
    assert asked["F173"] == "it states neither a time nor a rate with a size"
