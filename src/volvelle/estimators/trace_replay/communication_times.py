"""Times of a trace's communication on a machine, by the laws that training takes its exchanges' times from."""

from collections.abc import Sequence

import numpy as np

from volvelle.errors import DescriptionError
from volvelle.estimators.collectives import LAWS, Algorithm
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.collectives import point_to_point_time
from volvelle.quantities import Number
from volvelle.system.cluster import Cluster
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.values import Communication


class CommunicationTimes:
    """Times of exchanges on one machine; equal ones are timed once."""

    def __init__(self, cluster: Cluster, *, group: int | None = None) -> None:
        """`group` are the ranks of exchanges that do not say who takes part; None: all chips of the machine."""
        self._cluster = cluster
        self._group = group or cluster.accelerators
        element = next(iter(cluster.chip.matrix_rates))  # rates of the network do not depend on it
        self._rates = SustainedRates.of(cluster, element, software=False)
        self._known: dict[Communication, float] = {}

    def __call__(self, exchange: Communication) -> float:
        """Seconds."""
        if exchange not in self._known:
            self._known[exchange] = float(np.max(self.columns(exchange)))
        return self._known[exchange]

    def along(self, exchange: Communication) -> Sequence[float]:
        """Members of an exchange along each dimension of the machine."""
        tiers = self._rates.tiers(float(exchange.group or self._group), float(exchange.stride))
        return [float(np.max(tier.chips)) for tier in tiers]

    def columns(self, exchange: Communication) -> Number:
        """Seconds on every variant of a machine whose numbers are columns."""
        group = exchange.group or self._group
        reach = (group - 1) * exchange.stride + 1
        if reach > self._cluster.accelerators:
            raise DescriptionError(
                f"a {exchange.collective.value} of the trace spans {reach:,} ranks, and {self._cluster.name} has "
                f"{self._cluster.accelerators:,} chips here; take more of them, like {self._cluster.name}/{reach}"
            )
        if group < 2:
            return 0.0
        tiers = self._rates.tiers(float(group), float(exchange.stride))
        if exchange.collective is not Collective.POINT_TO_POINT:
            return LAWS[exchange.collective][Algorithm.NESTED](exchange.size, tiers)
        found: Number = 0.0
        for level, tier in zip(self._rates.levels, tiers, strict=True):
            if float(np.max(tier.chips)) > 1.0:  # by the outermost dimension that lies between the two
                found = level.setup + point_to_point_time(exchange.size, rate=level.rate, latency=level.latency)
        return found
