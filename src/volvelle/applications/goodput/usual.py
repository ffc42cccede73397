"""The share of time that is training on a cluster that is interrupted as others are, in one number."""

import numpy as np

from volvelle.applications.goodput.inputs import prior_hazard, recovery_policy
from volvelle.applications.goodput.wall_time import ettr_of
from volvelle.system.cluster import Cluster


def usual_ettr(cluster: Cluster, work: float) -> float:
    """Effective training time ratio of so many seconds of work, every number in its middle: what `job` has there."""
    hazard, _ = prior_hazard(cluster)
    return float(np.asarray(ettr_of(recovery_policy().circumstances(work, hazard.rate))))
