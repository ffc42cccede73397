"""The range of a collective is what measured rows say that their fit did not see."""

from dataclasses import replace
from math import log, log2

import pytest

from volvelle import Catalogue
from volvelle.applications.collectives.collective_error import collective_error, collective_range, links_of
from volvelle.applications.collectives.groups_timed import groups_timed
from volvelle.applications.collectives.measured_groups import measured_groups
from volvelle.applications.collectives.measurements import collective_measurements
from volvelle.applications.collectives.prediction import why_unusable
from volvelle.applications.collectives.stages import FITTED, STAGES
from volvelle.applications.measured_table import calibration_rows
from volvelle.catalogue.left_out import publications_left_out
from volvelle.catalogue.model_errors import model_error
from volvelle.spread import model_reach, student


def test_ranges_are_those_of_rows_that_their_fit_did_not_see() -> None:
    told = model_error("collectives", "long/inside/above 30 MB/nvlink4")
    found = collective_range(1.0, 1e9, [("nvlink4", 8.0)])
    assert found.high == pytest.approx(told.factor ** model_reach(0.8), rel=1e-9)
    assert found.low == 1.0 / found.high
    assert told.rows >= 30
    assert told.sources >= 4


def test_fitted_links_are_those_of_calibration_rows(catalogue: Catalogue) -> None:
    found: set[str] = set()
    for row in collective_measurements().rows:
        library = not row.library.startswith("TransferBench") and not row.operation.startswith("osu")
        if row.head.split == "calibration" and library and why_unusable(row) is None:
            cluster = catalogue.cluster(f"{row.cluster}/{row.chips}")
            found |= {name for name, _ in links_of(cluster, [part.size for part in cluster.dimensions])}
    assert found == FITTED


def test_every_publication_of_a_stage_has_rows_over_its_links(catalogue: Catalogue) -> None:
    rows = [row for row in collective_measurements().rows if row.head.split == "calibration" and not why_unusable(row)]
    for stage in STAGES:
        links = {link for constant in stage.constants for link in constant.links}
        for group in stage.groups:
            clusters = {f"{row.cluster}/{row.chips}" for row in rows if row.head.group == group}
            assert clusters, group
            for name in clusters:
                crossed = links_of(catalogue.cluster(name), [part.size for part in catalogue.cluster(name).dimensions])
                assert links & {link for link, _ in crossed}, (group, name)
                assert stage.between is (len(crossed) > 1), (group, name)


def test_links_that_nobody_fitted_have_the_wider_range() -> None:
    known, other = (
        collective_range(1.0, 1e9, links)
        for links in ([("nvlink4", 8.0)], [("nvlink4", 8.0), ("infiniband-hdr200", 2.0)])
    )
    assert other.low < known.low < 1.0 < known.high < other.high


def test_messages_that_fill_pipelines_have_wider_ranges_than_those_that_keep_them_full() -> None:
    filling, full = (collective_range(1.0, size, [("nvlink4", 8.0), ("infiniband-ndr400", 2.0)]) for size in (1e7, 1e9))
    assert filling.low < full.low < 1.0 < full.high < filling.high


def test_groups_that_were_timed_are_those_of_calibration_rows(catalogue: Catalogue) -> None:
    rows = calibration_rows(collective_measurements(), shipped=True)
    assert groups_timed(rows, catalogue, publications_left_out("collectives")) == measured_groups()


def test_a_group_larger_than_any_that_was_timed_has_a_wider_range_and_is_told() -> None:
    ends = []
    for racks in (2.0, 8.0, 12.0, 20.0):
        told, factor = collective_error(1e9, [("nvlink5", 72.0), ("infiniband-ndr400", racks)])
        assert ("20 units of infiniband-ndr400 where at most 8 were timed" in told) is (racks == 20.0)
        ends.append(factor)
    assert ends[0] == ends[1] < ends[2] < ends[3]
    assert log(ends[3]) ** 2 == pytest.approx(log(ends[0]) ** 2 + measured_groups().doubling ** 2 * log2(20 / 8))


def test_links_that_nobody_timed_are_no_surer_than_those_that_were() -> None:
    for nodes in (2.0, 8.0, 64.0, 512.0):
        timed, never = (
            collective_error(1e9, [("nvlink4", 8.0), (link, nodes)])[1]
            for link in ("infiniband-ndr400", "slingshot-11")
        )
        assert timed < never


def test_a_group_over_one_link_in_two_dimensions_is_one_across_nodes(catalogue: Catalogue) -> None:
    inner, outer = catalogue.cluster("dgx-h100/64").dimensions
    twice = replace(catalogue.cluster("dgx-h100/64"), dimensions=(inner, replace(outer, link=inner.link)))
    assert links_of(twice, (8, 4)) == (("nvlink4", 8.0), ("nvlink4", 4.0))


def test_collectives_have_longer_tails_than_other_models() -> None:
    told = model_error("collectives", "long/inside/above 30 MB/nvlink4")
    half, most = (collective_range(1.0, 1e9, [("nvlink4", 8.0)], level=level).high for level in (0.5, 0.95))
    assert half < told.factor ** model_reach(0.5)
    assert most > told.factor ** model_reach(0.95)
    share = student(0.975, 2.0) / student(0.9, 2.0)
    assert log(most) / told.reach == pytest.approx(float(share), rel=1e-6)
