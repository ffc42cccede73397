"""DFModel's design space as a study file: the same points, mapped by the same search, as its reproduction."""

import numpy as np
import pytest

from tests.conftest import ROOT
from volvelle.catalogue.published.dfmodel import dfmodel
from volvelle.errors import DescriptionError
from volvelle.reproductions.dfmodel.points import PublishedPoints
from volvelle.studies.design_space.design_study import read_study

STUDY = ROOT / "examples" / "studies" / "dfmodel.yaml"


def test_the_file_has_all_320_points_each_once() -> None:
    study = read_study(STUDY)
    positions = study.grid.positions(study.grid.numbers(0, len(study.grid)))
    names = {
        tuple(str(axis.columns[axis.name][int(positions[axis.name][row])]) for axis in study.axes)
        for row in range(len(study.grid))
    }
    published = {
        (point.workload, point.accelerator, point.topology, point.memory, point.link)
        for point in dfmodel().design_space
    }
    assert names == published


def test_points_come_out_as_logged_or_better() -> None:
    study = read_study(STUDY)
    logged = {
        (point.workload, point.accelerator, point.topology, point.memory, point.link): point
        for point in dfmodel().design_space
    }
    numbers = np.arange(0, len(study.grid), 23, dtype=np.int64)
    found = PublishedPoints(study).points(numbers)
    for row in range(len(numbers)):
        names = tuple(axis.columns[axis.name][int(found.positions[axis.name][row])] for axis in study.axes)
        point = logged[names]  # type: ignore[index]
        assert found.columns["mfu"][row] >= point.utilisation * 0.995
        assert found.columns["machine_usd"][row] == pytest.approx(point.cost, rel=0.005)
        assert found.columns["power"][row] == pytest.approx(point.power, rel=0.005)


def test_a_part_that_was_not_published_is_refused_by_name() -> None:
    form = {"name": "x", "system": "published/dfmodel", "axes": {"chip": ["h200"]}, "objectives": ["mfu"]}
    with pytest.raises(DescriptionError, match="h100"):
        read_study(form)


def test_a_design_space_nobody_published_is_refused() -> None:
    form = {"name": "x", "system": "published/nobody", "axes": {"chip": ["h100"]}, "objectives": ["mfu"]}
    with pytest.raises(DescriptionError, match="dfmodel"):
        read_study(form)
