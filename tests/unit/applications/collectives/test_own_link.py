"""A link by sweeps of one's own."""

from math import log

import pytest

from tests.unit.interchange.logs.test_nccl_tests import as_text, sweeps
from volvelle import Catalogue
from volvelle.applications.collectives.fit import fitted_stage
from volvelle.applications.collectives.own_link import fit_own_link, link_spreads, own_rows
from volvelle.applications.collectives.series import series_of
from volvelle.applications.collectives.stages import Constant, Stage
from volvelle.applications.own_factor import FREEDOM, machine_spreads
from volvelle.catalogue.model_errors import model_error
from volvelle.interchange.logs.readers import log_of

CATALOGUE = Catalogue()


@pytest.mark.parametrize("count", [1, 3])
def test_a_few_sizes_are_followed_as_far_as_published_sweeps_that_were_left_out_allow(count: int) -> None:
    largest = sweeps()["stas-a100", "all_reduce", 8][-count:]
    rows = own_rows(log_of(as_text("all_reduce", 8, largest), "sweep").collectives, "dgx-a100", ranks=8)
    link = fit_own_link(rows, CATALOGUE.cluster("dgx-a100/8"), CATALOGUE)
    efficiency = Constant(name="efficiency", links=("nvlink3",), start=link.before["efficiency"], most=1.0)
    links = {"nvlink3": CATALOGUE.link("nvlink3")}
    (alone,) = fitted_stage(Stage(groups=("own",), constants=(efficiency,)), series_of(rows, CATALOGUE), links)
    between, within = link_spreads(inside=True, long=True)
    weight = count * between**2 / (count * between**2 + FREEDOM * within**2 / (FREEDOM + count - 1.0))
    followed = log(link.after["efficiency"] / link.before["efficiency"]) / log(alone / link.before["efficiency"])
    assert followed == pytest.approx(weight, rel=1e-6)
    assert 0.2 < followed < 0.9


def test_machines_are_further_apart_between_nodes_than_inside_them_and_as_left_out_rows_say() -> None:
    inside, across = (link_spreads(inside=inside, long=True) for inside in (True, False))
    assert across[0] > inside[0]
    assert inside == machine_spreads("collectives", "long/inside")
    told = model_error("collectives")
    assert inside == pytest.approx((told.between, told.within), rel=0.1)
