"""How constants of engines are fitted."""

from dataclasses import replace

import numpy as np
import pytest

from volvelle.applications.serving.fit import FITTED, fit_engines, nearest_constants, started
from volvelle.applications.serving.instance import instance
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import serving_engine
from volvelle.estimators.serving.engine_constants import EngineConstants
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel


def test_constants_are_found_that_made_the_figures() -> None:
    true = np.log([2e-3, 0.8])

    def off(constants: EngineConstants) -> np.ndarray:
        here = np.log([constants.host, constants.reading])
        return np.array([[1.0, 0.5], [0.2, 1.0], [0.7, 0.7]]) @ (here - true)

    found = nearest_constants(off, started(), ("host", "reading"), weights=np.ones(3), hold=1e-6, rounds=6)
    assert found.host == pytest.approx(2e-3, rel=1e-3)
    assert found.reading == pytest.approx(0.8, rel=1e-3)


def test_constants_as_they_are_stay_and_their_errors_are_told(catalogue: Catalogue) -> None:
    rows = [row for row in serving_measurements(kind="static_latency").rows if row.head.split == "calibration"]
    (found,) = fit_engines(rows, catalogue, engine="deepspeed-gaudi", as_they_are=True)
    known = serving_engine("deepspeed-gaudi")
    assert all(getattr(found.constants, name) == getattr(known.constants, name) for name in FITTED)
    assert found.error["latency"] == pytest.approx(known.error["latency"], rel=1e-3)


def test_launches_of_experts_may_take_longer_and_never_less(catalogue: Catalogue) -> None:
    served = ServedModel(shape=catalogue.model("gpt-oss-120b"), weights="mxfp4")
    one = instance(catalogue, served, "b200", ServingLayout(tensor=1), "vllm")
    constants = replace(one.engine.constants, eager_launch=1e-5)
    tokens = np.array([4096.0])

    def launching(heavy: float) -> float:
        iteration = one.with_constants(replace(constants, eager_heavy=heavy)).iteration
        return float(iteration.launching(tokens)[0])

    assert launching(0.0) == launching(1e-5) < launching(1e-4)
