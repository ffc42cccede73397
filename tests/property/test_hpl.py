"""What holds for every run of High-Performance Linpack."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from volvelle import Catalogue
from volvelle.applications.hpl.closed_forms import LayeredHpl, OriginalHpl
from volvelle.applications.hpl.constants import hpl_constants
from volvelle.applications.hpl.panels import PanelByPanel
from volvelle.mapping.process_grid import ProcessGrid, usable_grid
from volvelle.workload.families.hpl import Hpl

CATALOGUE = Catalogue()
CLUSTER = CATALOGUE.cluster("dgx-a100/1024")
FLAT = replace(CLUSTER, dimensions=(replace(CLUSTER.dimensions[-1], size=CLUSTER.accelerators),))
"""The same chips on one network: one layer of communication."""
PANELS = PanelByPanel(constants=hpl_constants("ampere"))

blocks = st.sampled_from([64, 128, 192, 256, 384, 512, 1024])
sides = st.integers(1, 32)
panels = st.integers(64, 4000)


def scaled(rate: float = 1.0, link: float = 1.0, latency: float = 1.0):  # type: ignore[no-untyped-def]
    chip = replace(CLUSTER.chip, matrix_rates={"fp64": CLUSTER.chip.matrix_rates["fp64"] * rate})
    dimensions = tuple(
        replace(d, link=replace(d.link, rate=d.link.rate * link, latency=d.link.latency * latency))
        for d in CLUSTER.dimensions
    )
    return replace(CLUSTER, chip=chip, dimensions=dimensions)


@given(blocks, panels, sides, sides)
@settings(max_examples=60, deadline=None)
def test_one_layer_of_the_layered_model_is_the_original(block: int, count: int, rows: int, columns: int) -> None:
    """Equations 25 to 29 with one layer are equation 3 with its lower orders."""
    problem, grid = Hpl(name="n", order=block * count, block=block), ProcessGrid(rows=rows, columns=columns)
    layered = LayeredHpl().estimate(problem, FLAT, grid)
    assert layered.time == pytest.approx(OriginalHpl(lower_order=True).estimate(problem, FLAT, grid).time, rel=1e-9)


@given(blocks, sides, sides)
@settings(max_examples=30, deadline=None)
def test_lower_orders_vanish_as_the_matrix_grows(block: int, rows: int, columns: int) -> None:
    grid = ProcessGrid(rows=rows, columns=columns)
    gaps = []
    for count in (1000, 4000, 16000):
        problem = Hpl(name="n", order=block * count, block=block)
        short = OriginalHpl().estimate(problem, FLAT, grid).time
        gaps.append(abs(LayeredHpl().estimate(problem, FLAT, grid).time / short - 1))
    assert gaps[2] <= gaps[0] + 1e-12
    assert gaps[2] < 0.1


@given(blocks, panels, sides, sides, st.sampled_from([OriginalHpl(), LayeredHpl(), PANELS]))
@settings(max_examples=80, deadline=None)
def test_parts_sum_to_the_time_and_nothing_beats_the_peak(block, count, rows, columns, model) -> None:  # type: ignore[no-untyped-def]
    problem = Hpl(name="n", order=block * count, block=block)
    grid = ProcessGrid.for_nodes(rows, columns, node=8)
    cluster = replace(CLUSTER, host_rate=25e9)
    answer = model.estimate(problem, cluster, grid)
    assert answer.time == pytest.approx(sum(part.time for part in answer.contributions if part.exposed))
    assert min(part.time for part in answer.contributions) >= 0
    assert answer.utilisation <= 1.0 * (1 + 1.5 / problem.order * 4)


@given(blocks, panels, sides, sides, st.floats(1.0, 8.0))
@settings(max_examples=60, deadline=None)
def test_faster_chips_and_links_are_never_slower(block, count, rows, columns, factor) -> None:  # type: ignore[no-untyped-def]
    problem, grid = Hpl(name="n", order=block * count, block=block), ProcessGrid.for_nodes(rows, columns, node=8)
    for model in (OriginalHpl(), LayeredHpl(), PANELS):
        base = model.estimate(problem, scaled(), grid).time
        assert model.estimate(problem, scaled(rate=factor), grid).time <= base * (1 + 1e-12)
        assert model.estimate(problem, scaled(link=factor), grid).time <= base * (1 + 1e-12)
        assert model.estimate(problem, scaled(latency=factor), grid).time >= base * (1 - 1e-12)


@given(blocks, st.integers(200, 2000), sides, sides)
@settings(max_examples=40, deadline=None)
def test_more_rows_take_longer_panel_by_panel(block: int, count: int, rows: int, columns: int) -> None:
    grid = ProcessGrid.for_nodes(rows, columns, node=8)
    cluster = replace(CLUSTER, host_rate=25e9)
    less = PANELS.estimate(Hpl(name="n", order=block * count, block=block), cluster, grid)
    more = PANELS.estimate(Hpl(name="n", order=block * (count + 50), block=block), cluster, grid)
    assert more.time > less.time


@given(st.integers(1, 200_000))
@settings(max_examples=100, deadline=None)
def test_a_usable_grid_never_needs_more_processes_than_there_are(count: int) -> None:
    small, large = usable_grid(count)
    assert small <= large
    assert 0.97 * count - 1 <= small * large <= count
