"""Constants of an engine from a log."""

from dataclasses import replace

import numpy as np

from volvelle import Catalogue
from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.log_fit import FITTED_TO_LOGS, fit_to_logs, started_from_kernels
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.applications.serving.replays import replayed
from volvelle.applications.serving.runs import ServingRun
from volvelle.workload.serving.loads import Recorded


def test_a_fit_to_a_log_of_known_constants_gives_its_times_again(catalogue: Catalogue) -> None:
    row = next(row for row in serving_measurements(kind="request_logs").rows if row.head.split == "calibration")
    run = run_of(row, catalogue)
    assert isinstance(run, ServingRun)
    assert row.log is not None
    few = row.log.requests.first(40)
    run = replace(run, load=Recorded(recorded=few))
    hidden = replace(started_from_kernels(), host=4e-3, attending=0.6)
    one = run.instance
    changed = replace(
        one, iteration=replace(one.iteration, engine=hidden), engine=replace(one.engine, constants=hidden)
    )
    served = replayed(replace(run, instance=changed))
    log = replace(
        row.log, requests=few, scheduled=served.admitted, first_token=served.first_token, last_token=served.end
    )
    found = fit_to_logs([(run, log)])
    again = replace(one, iteration=replace(one.iteration, engine=found), engine=replace(one.engine, constants=found))
    ends = replayed(replace(run, instance=again)).end
    assert np.median(np.abs(ends / served.end - 1.0)) < 0.01
    others = {
        name for name in found.__dataclass_fields__ if getattr(found, name) != getattr(started_from_kernels(), name)
    }
    assert others == set(FITTED_TO_LOGS), "rates of products stay those of kernels"
