"""How far off single kernels are. The bars may only be lowered; held-out rows were never fitted to."""

from dataclasses import replace

import pytest

from volvelle import Catalogue
from volvelle.applications.kernels.application import KERNELS
from volvelle.applications.kernels.constants import KernelKey, constants_for, kernel_constants
from volvelle.applications.kernels.fit import fit_table
from volvelle.applications.kernels.measurements import kernel_measurements
from volvelle.applications.kernels.prediction import family_of, key_of, why_unusable
from volvelle.applications.scores import RowValidation
from volvelle.applications.validation import validate
from volvelle.errors import OutsideDomainError

BARS = {
    "products": 0.067,
    "prompt": 0.081,
    "one token": 0.103,
    "latent prompt": 0.053,
    "latent token": 0.092,
    "experts": 0.089,
    "in a node": 0.131,
    "in a node, NCCL": 0.086,
}
"""Mean over the tables of datacentre chips of their medians, held-out rows."""


@pytest.fixture(scope="module")
def scored() -> RowValidation:
    return validate(KERNELS)


def test_every_kind_of_kernel_is_no_further_off_than_when_first_scored(scored: RowValidation) -> None:
    found = next(iter(KERNELS.findings(scored)))
    kinds = found.value["datacentre chips"]  # type: ignore[index]
    assert set(kinds) == set(BARS)
    for kind, bar in BARS.items():
        assert kinds[kind]["mean_of_medians"] <= bar, kind


def test_products_on_a_chip_left_out_keep_to_a_bar_by_the_constants_of_its_family(scored: RowValidation) -> None:
    _, found = KERNELS.findings(scored)
    products = found.value["products"]  # type: ignore[index]
    assert found.key == "chip_left_out"
    assert products["tables"] == 44, "but for A100, alone in its family"
    assert products["mean_of_medians"] <= 0.0881


def test_constants_of_a_chip_left_out_are_those_of_its_kin_alone() -> None:
    families = {"h100-sxm": "hopper", "h200-sxm": "hopper", "a100-sxm4-80gb": "ampere"}
    known = next(key for key in sorted(kernel_constants()) if (key.family, key.chip) == ("products", "h100-sxm"))
    taken = constants_for(known, families, unseen=True)
    assert taken.taken_from == "h200-sxm"
    with pytest.raises(OutsideDomainError):
        constants_for(replace(known, chip="a100-sxm4-80gb"), families, unseen=True)


def test_ranges_hold_about_four_fifths_of_held_out_rows(scored: RowValidation) -> None:
    assert 0.75 <= scored.overall("heldout").coverage <= 0.85


@pytest.mark.long
def test_constants_come_back_from_the_few_rows_that_ship() -> None:
    """Twenty-five rows of a table tell its constants nearly as well as all: errors are alike."""
    rows = [row for row in kernel_measurements().rows if row.head.split == "calibration" and not why_unusable(row)]
    family = next(found for row in rows if (found := family_of(row)) is not None and found.name == "products")
    key = KernelKey("products", "h100-sxm", "bfloat16", "", "trtllm", kernel_of(rows, "h100-sxm", "trtllm"))
    mine = [row for row in rows if key_of(row, family_of(row) or family) == key]
    fitted = fit_table(key, family, mine, Catalogue()).found.constants
    held = kernel_constants()[key].values
    assert fitted["matrix_efficiency"] == pytest.approx(held["matrix_efficiency"], rel=0.25)
    assert fitted["memory_efficiency"] == pytest.approx(held["memory_efficiency"], rel=0.25)


def kernel_of(rows, chip: str, backend: str) -> str:  # type: ignore[no-untyped-def]
    keys = {key_of(row, family) for row in rows if (family := family_of(row)) is not None}
    wanted = ("products", chip, "bfloat16", backend)
    return next(key.kernel for key in sorted(keys) if (key.family, key.chip, key.element, key.backend) == wanted)


def test_a_chip_without_measurements_takes_its_familys_constants_and_is_less_sure() -> None:
    families = {"h100-sxm": "hopper", "h200-sxm": "hopper", "h20": "hopper"}
    known = next(key for key in sorted(kernel_constants()) if (key.family, key.chip) == ("products", "h100-sxm"))
    taken = constants_for(replace(known, chip="h20"), families)
    assert "h100-sxm" in taken.taken_from
    assert taken.error >= kernel_constants()[known].error


def test_a_version_that_nobody_timed_takes_the_constants_of_the_newest_that_somebody_did() -> None:
    older, newer = (
        KernelKey("experts", "h100-sxm", "bfloat16", "", "sglang", f"sglang_fused_moe_triton {version}")
        for version in ("0.5.10", "0.5.14")
    )
    for version in (" 9.9", ""):
        taken = constants_for(replace(newer, kernel=f"sglang_fused_moe_triton{version}"), {"h100-sxm": "hopper"})
        assert taken.values == kernel_constants()[newer].values
        assert taken.taken_from == "sglang sglang_fused_moe_triton 0.5.14"
    assert kernel_constants()[older].values["carried"] > 0.7 > kernel_constants()[newer].values["carried"]
