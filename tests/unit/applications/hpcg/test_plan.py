"""What a plan of HPCG says of its rate."""

import pytest

from volvelle.applications.hpcg.constants import hpcg_factors
from volvelle.applications.hpcg.estimator import HpcgModel
from volvelle.applications.hpcg.plan import hpcg_layout
from volvelle.catalogue import Catalogue


def test_what_one_factor_does_alone_is_less_than_what_all_do(catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("aurora/4608")
    model = HpcgModel(factors=hpcg_factors("ponte-vecchio"))
    layout = hpcg_layout(cluster, model.factors)
    whole = float(model.drawn_rates(cluster, layout).std())
    alone = [float(model.drawn_rates(cluster, layout, only=name).std()) for name in model.factors.named()]
    assert max(alone) < whole
    assert whole**2 == pytest.approx(sum(one**2 for one in alone), rel=0.1)
