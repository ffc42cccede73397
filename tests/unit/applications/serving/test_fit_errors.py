"""How far off an engine's constants are, for groups that they were not fitted to."""

from dataclasses import replace

import numpy as np
import pytest

from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.fit_errors import errors_of, left_out
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.applications.serving.nearest import constants_without
from volvelle.applications.serving.runs import ServingRun
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import serving_engine
from volvelle.estimators.serving.engine_constants import EngineConstants


def test_constants_without_a_group_are_those_of_the_others() -> None:
    true = {"near": 2e-3, "far": 3e-3}
    groups = ["near", "near", "far"]

    def off(constants: EngineConstants) -> np.ndarray:
        return np.log([constants.host / true[group] for group in groups])

    known = EngineConstants(host=2.2e-3)
    found = constants_without(off, known, ("host",), groups, weights=np.ones(3), hold=1e-6)
    assert found["far"].host == pytest.approx(2e-3, rel=1e-3)
    assert found["near"].host == pytest.approx(3e-3, rel=1e-3)


def test_a_saturated_row_is_judged_by_constants_of_other_chips_and_models(catalogue: Catalogue) -> None:
    rows = [row for row in serving_measurements(kind="saturated_throughput").rows if row.head.split == "calibration"]
    some = [row for row in rows if row.head.group.endswith(("h100-sxm/llama3-8b", "h200-sxm/llama3-8b"))][::5]
    asked = [(row, run) for row in some if isinstance(run := run_of(row, catalogue), ServingRun)]
    assert {run.instance.chip.name for _, run in asked} == {"h100-sxm", "h200-sxm"}
    known = serving_engine("trtllm", "hopper").constants
    slow = replace(known, host_sequence=4.0 * known.host_sequence)
    as_they_are, moved = (
        left_out(asked, asked, by, ("host_sequence",), hold=hold) for by, hold in ((slow, 1e6), (slow, 1e-3))
    )
    assert len(as_they_are) == len(moved) == len(asked)
    assert sum(abs(off) for _, off in moved) < 0.5 * sum(abs(off) for _, off in as_they_are)


def test_an_error_is_told_from_eight_figures_on(catalogue: Catalogue) -> None:
    row = next(row for row in serving_measurements(kind="saturated_throughput").rows)
    run = run_of(row, catalogue)
    assert isinstance(run, ServingRun)
    assert errors_of([((row, run), 0.1)] * 7) == {}
    assert errors_of([((row, run), 0.1)] * 8)["throughput"] > 1.0


def test_groups_that_a_fit_did_not_see_count_alike_however_many_rows_they_have(catalogue: Catalogue) -> None:
    rows = serving_measurements(kind="saturated_throughput").rows
    small, large = (
        next(
            (row, run)
            for row in rows
            if row.head.group.endswith(name) and isinstance(run := run_of(row, catalogue), ServingRun)
        )
        for name in ("h100-sxm/llama3-8b", "h100-sxm/llama3-405b")
    )
    judged = [(small, 0.01)] * 90 + [(large, 0.2)] * 10
    seen, strange = errors_of(judged)["throughput"], errors_of(judged, strange=True)["throughput"]
    assert seen < 1.05  # nine rows in ten are near
    assert strange == pytest.approx(np.exp(0.2 / 1.2816), rel=1e-5)
