"""The range of a collective is what measured rows say, computed again."""

import pytest

from volvelle import Catalogue
from volvelle.applications.collectives.application import COLLECTIVES
from volvelle.applications.collectives.collective_error import (
    ERRORS,
    FITTED,
    collective_range,
    links_of,
    measured_errors,
)
from volvelle.applications.collectives.measurements import collective_measurements
from volvelle.applications.collectives.prediction import why_unusable
from volvelle.applications.validation import validate


def test_errors_are_those_of_measured_rows(catalogue: Catalogue) -> None:
    assert measured_errors(validate(COLLECTIVES), catalogue) == pytest.approx(ERRORS, abs=1e-3)


def test_fitted_links_are_those_of_calibration_rows(catalogue: Catalogue) -> None:
    found = set()
    for row in collective_measurements().rows:
        library = not row.library.startswith("TransferBench") and not row.operation.startswith("osu")
        if row.head.split == "calibration" and library and why_unusable(row) is None:
            cluster = catalogue.cluster(f"{row.cluster}/{row.chips}")
            found.add(links_of(cluster, [part.size for part in cluster.dimensions]))
    assert found == FITTED


def test_links_that_nobody_fitted_have_the_wider_range() -> None:
    known, other = (collective_range(1.0, 1e9, links) for links in (("nvlink4",), ("nvlink4", "infiniband-ndr400")))
    assert other.low < known.low < 1.0 < known.high < other.high
