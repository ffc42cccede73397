"""What own products say of a chip, and how published ones scatter."""

from math import log

import pytest

from volvelle.applications.kernels.measurements import kernel_measurements
from volvelle.applications.kernels.own_products import product_spreads, sustained_ratio
from volvelle.applications.measured_table import calibration_rows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.own_spread import own_runs_spread
from volvelle.estimators.calibration import fitted_constants


def test_a_product_as_fast_as_the_catalogue_says_has_no_ratio_to_speak_of(catalogue: Catalogue) -> None:
    cluster, size = catalogue.cluster("dgx-h100/8"), 8192.0
    known = fitted_constants(cluster, "bf16", software=False)
    rate = (
        float(cluster.chip.matrix_rate("bf16"))
        * float(known.matrix_efficiency)
        * size
        / (size + float(known.gemm_k_half))
    )
    asked = {"m": size, "n": size, "k": size}
    assert sustained_ratio(cluster, "bf16", seconds=2 * size**3 / rate, **asked) == pytest.approx(0.0, abs=1e-9)
    assert sustained_ratio(cluster, "bf16", seconds=4 * size**3 / rate, **asked) == pytest.approx(-log(2.0))


@pytest.mark.parametrize("sides", [(256.0, 256.0, 256.0), (16.0, 65536.0, 65536.0), (65536.0, 65536.0, 64.0)])
def test_products_that_are_small_or_that_memory_binds_tell_nothing(
    catalogue: Catalogue, sides: tuple[float, float, float]
) -> None:
    m, n, k = sides
    assert sustained_ratio(catalogue.cluster("dgx-h100/8"), "bf16", m=m, n=n, k=k, seconds=1.0) is None


@pytest.mark.long
def test_the_file_holds_what_calibration_rows_say(catalogue: Catalogue) -> None:
    rows = calibration_rows(kernel_measurements(), shipped=True).rows
    known = own_runs_spread()
    for narrow, kept in ((False, known.products), (True, known.narrow_products)):
        between, within, count, _ = product_spreads(rows, catalogue, narrow=narrow)
        assert (kept.between, kept.within) == pytest.approx((between, within), rel=1e-3)
        assert kept.source.startswith(f"{count} products")
    assert known.products.between < known.narrow_products.between
