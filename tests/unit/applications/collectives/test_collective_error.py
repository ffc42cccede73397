"""The range of a collective is what measured rows say that their fit did not see."""

from volvelle import Catalogue
from volvelle.applications.collectives.collective_error import FITTED, collective_range, links_of
from volvelle.applications.collectives.measurements import collective_measurements
from volvelle.applications.collectives.prediction import why_unusable
from volvelle.catalogue.model_errors import model_error
from volvelle.spread import model_reach


def test_ranges_are_those_of_rows_that_their_fit_did_not_see() -> None:
    told = model_error("collectives", "long/inside")
    found = collective_range(1.0, 1e9, ("nvlink4",))
    assert found.high == told.factor ** model_reach(0.8)
    assert found.low == 1.0 / found.high
    assert told.sources >= 10


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
