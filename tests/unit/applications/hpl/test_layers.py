"""Layers of communication of any described machine."""

from dataclasses import replace
from itertools import pairwise

import pytest

from volvelle import Catalogue
from volvelle.applications.hpl.closed_forms import LayeredHpl, OriginalHpl
from volvelle.applications.hpl.constants import core_of, equivalent_core, hpl_constants, nearest_constants
from volvelle.applications.hpl.layers import derived_core, layers_of
from volvelle.applications.hpl.panels import PanelByPanel
from volvelle.laws.hpl.layers import cores_of_rate, words_of_rate
from volvelle.mapping.process_grid import ProcessGrid, is_prime
from volvelle.workload.families.hpl import Hpl

CATALOGUE = Catalogue()
DGX = CATALOGUE.cluster("dgx-h100/64")
GRID = ProcessGrid.for_nodes(8, 8, node=8)
RUN = Hpl(name="run", order=760_000, block=1024)


@pytest.mark.parametrize("chip", ["p100-pcie", "v100-sxm2-32gb", "a100-sxm4-40gb", "h100-sxm", "mi250x-gcd"])
def test_a_derived_core_sees_its_memory_about_as_the_stated_one_does(chip: str) -> None:
    stated, derived = equivalent_core(chip), derived_core(CATALOGUE.chip(chip))
    assert stated is not None
    assert derived.words / derived.cores == pytest.approx(stated.words / stated.cores, rel=0.55)
    assert "derived" in derived.origin


def test_a_peak_tells_cores_and_a_rate_tells_words() -> None:
    """P100: 9.52 TFLOP/s of single precision at 1.328 GHz, 732.2 GB/s at 1.43 GT/s a pin."""
    assert cores_of_rate(9.52e12, operations=2.0, clock=1.328e9) == pytest.approx(3584, rel=0.001)
    assert words_of_rate(732.2e9, transfers=1.43e9) == pytest.approx(64, rel=0.001)


def test_what_is_given_of_a_core_counts_and_is_named() -> None:
    core = core_of(CATALOGUE.chip("h100-sxm"), cores=8448.0, words=None, cycles=None)
    assert (core.cores, core.words) == (8448.0, 80.0)
    assert core.origin.startswith("cores given")
    assert core_of(CATALOGUE.chip("h100-sxm"), cores=None, words=None, cycles=None).origin == "stated"


def test_a_prime_side_of_the_square_follows_p_and_q() -> None:
    """Eight nodes are 2 × 4 by themselves; a grid of 8 × 8 whose columns lie within nodes cuts them 1 × 8."""
    core = core_of(DGX.chip)
    followed = layers_of(DGX, GRID, core)[1]
    square = layers_of(DGX, GRID, core, prime_rule=False)[1]
    assert (followed.row_parts, followed.column_parts) == (1, 8)
    assert (square.row_parts, square.column_parts) == (2, 4)
    assert [count for count in range(12) if is_prime(count)] == [2, 3, 5, 7, 11]


@pytest.mark.parametrize(
    "model",
    [OriginalHpl(), LayeredHpl(core=core_of(DGX.chip)), PanelByPanel(constants=hpl_constants("hopper"))],
    ids=["original", "layered", "panels"],
)
def test_layers_make_up_the_whole_run(model: OriginalHpl | LayeredHpl | PanelByPanel) -> None:
    told, whole = model.by_layer(RUN, DGX, GRID), model.estimate(RUN, DGX, GRID)
    assert sum(each.time for each in told) == pytest.approx(whole.time)
    assert sum(each.work for each in told) == pytest.approx(whole.work, rel=0.01)
    assert told[0].rows[0] == 0.0
    assert told[-1].rows[1] >= RUN.order
    for below, above in pairwise(told):
        assert below.rows[1] == above.rows[0]


def test_memory_over_the_whole_matrix_is_never_faster() -> None:
    core = core_of(DGX.chip)
    shared, whole = LayeredHpl(core=core), LayeredHpl(core=core, whole_memory=True)
    assert whole.estimate(RUN, DGX, GRID).time > shared.estimate(RUN, DGX, GRID).time
    memory = whole.by_layer(RUN, DGX, GRID)[0]
    assert memory.rows == memory.columns == (0.0, 760_832.0)
    assert memory.rate == 0.0


def test_a_family_without_constants_gets_those_in_the_middle_and_a_wide_range() -> None:
    unknown = nearest_constants("zen9")
    assert not unknown.fitted
    assert unknown.error > max(hpl_constants(family).error for family in ("volta", "ampere", "hopper", "cdna4"))
    assert nearest_constants("hopper") == hpl_constants("hopper")
    chip = replace(DGX.chip, family="zen9")
    assert PanelByPanel(constants=unknown).estimate(RUN, replace(DGX, chip=chip), GRID).rate > 0
