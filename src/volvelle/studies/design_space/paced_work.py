"""Training whose pace was measured: only the number of accelerators moves it."""

import numpy as np

from volvelle.applications.range_evidence import RangeEvidence
from volvelle.interchange.workload_form import WorkloadForm
from volvelle.laws.utilisation import pace_among
from volvelle.questions.workloads import PacedWork
from volvelle.spread import Evidence
from volvelle.studies.design_space.measures import Worked
from volvelle.studies.design_space.step_samples import DrawnOnce, paced_samples
from volvelle.system.cluster import Cluster


def paced_work(form: WorkloadForm, cluster: Cluster, rows: int) -> Worked:
    """A step of such training; what it holds in memory and how many FLOP it takes, nobody says."""
    pace, count = form.pace, float(cluster.accelerators)
    asked = form.asked
    assert pace is not None and isinstance(asked, PacedWork), "checked when read"  # noqa: PT018
    each = pace_among(pace.tokens_per_s, count, measured_on=pace.accelerators or count, exponent=pace.exponent)
    tokens = float(asked.batch * asked.sequence)
    time = np.full(rows, tokens / (count * float(each)))
    return Worked(
        name=form.called,
        time=time,
        memory=np.full(rows, np.nan),
        violated=np.zeros(rows, dtype=np.int8),
        work=np.nan,
        peak=1.0,
        tokens=tokens,
        samples=float(asked.batch),
        weight=form.weight,
        run_tokens=form.tokens,
        drawn=DrawnOnce(paced_samples, time, pace.error_factor),
    )


def paced_evidence(form: WorkloadForm) -> RangeEvidence:
    """What the range of such a step rests on: the doubt that is stated with the pace, and nothing of the machine."""
    assert form.pace is not None, "checked when read"
    doubt = f"one standard deviation of its pace, which was measured, is a factor of {form.pace.error_factor:.3g}"
    return RangeEvidence(weakest_evidence=Evidence.MEASURED.word, unmeasured=f"{doubt}, as stated")
