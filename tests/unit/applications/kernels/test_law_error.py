"""How far the law that traces are timed by is off, by measured products."""

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.kernels.law_error import FILE, kernel_law_errors, kind_of_product, measured_families
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.estimators.trace_replay.operation_times import OperationTimes
from volvelle.workload.trace.counting import product_work
from volvelle.workload.trace.values import Work

PCIE = "a100-pcie-80gb"


def test_a_table_of_the_file_is_what_the_law_says_of_its_measured_products() -> None:
    """Of one chip; ``scripts/kernel_law_errors.py`` writes all."""
    known = Catalogue()
    law = OperationTimes(known.with_chip(known.cluster("dgx-h100/8"), PCIE))
    errors: dict[Work, list[float]] = {}
    for row in packaged_rows("measurements/kernel_efficiency.csv"):
        if row["gpu"] == "A100-80GB PCIe" and row["op"] == "matmul":
            work = product_work(*(float(row[name]) for name in ("m", "n", "k", "batch")), row["element"], 2.0)
            timed = law(work)
            assert timed is not None
            errors.setdefault(work, []).append(np.log(float(row["time_us"]) * 1e-6 / timed.seconds))
    means = [np.mean(found) for work, found in errors.items() if kind_of_product(work) == "many rows, 16 bits"]
    (told,) = (row for row in packaged_rows(FILE) if row["chip"] == PCIE and not row["other_chip"])
    assert int(told["rows"]) == len(means)
    assert float(told["mean"]) == pytest.approx(np.mean(means), abs=1e-4)
    assert float(told["deviation"]) == pytest.approx(np.std(means, ddof=1), abs=1e-4)


def test_between_two_chips_the_law_is_less_far_off_than_by_itself() -> None:
    for alone, ratio in kernel_law_errors().values():
        assert 0.0 < ratio.common < alone.common
        assert ratio.single < alone.single


def test_products_of_few_rows_are_told_less_well_than_those_of_many() -> None:
    found = kernel_law_errors()
    assert found["few rows, 16 bits"][0].common > found["many rows, 16 bits"][0].common


def test_kinds_are_told_by_rows_and_bytes_and_what_is_no_product_counts_as_a_plain_one() -> None:
    assert kind_of_product(product_work(8, 8, 8, 1, "fp8", 1.0)) == "few rows, 8 bits"
    assert kind_of_product(product_work(4096, 8, 8, 1, "bf16", 2.0)) == "many rows, 16 bits"
    assert kind_of_product(Work("elementwise", traffic=1e6)) == "many rows, 16 bits"


def test_families_that_nobody_measured_are_not_among_those_measured() -> None:
    assert {"ampere", "hopper", "blackwell"} <= measured_families()
    assert not {"tpu", "cdna3"} & measured_families()
