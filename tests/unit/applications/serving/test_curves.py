"""How full engines were, over what they logged."""

from volvelle.applications.serving.application import SERVING
from volvelle.applications.serving.curves import log_curves
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.applications.validation import validate


def test_curves_of_a_log_lie_on_what_its_engine_said() -> None:
    table = serving_measurements(kind="request_logs").only(("request_logs rtx-pro-6000/vllm/Llama",))
    curves = log_curves(validate(SERVING, table).rows)
    assert [curve.name for curve in curves] == ["requests that run", "requests that wait"]
    for curve in curves:
        apart = [abs(one - other) for one, other in zip(curve.measured, curve.predicted, strict=True)]
        assert sum(apart) < 0.05 * sum(curve.measured)


def test_there_are_no_curves_beside_rows_that_are_no_logs() -> None:
    table = serving_measurements(kind="static_phases").only(("static_phases a100",))
    assert log_curves(validate(SERVING, table, splits=("calibration",)).rows) == ()
