"""What interrupts runs of a study, and how they recover: as its file states it, the rest as the catalogue has it."""

from dataclasses import dataclass, field, replace

import numpy as np

from volvelle.applications.goodput.inputs import recorded_out, recovery_policy, repair_time
from volvelle.applications.goodput.run_plan import RecoveryPolicy
from volvelle.applications.goodput.wall_time import waiting_share
from volvelle.catalogue.reliability import NODE, rate_prior
from volvelle.interchange.study_file import FailuresForm
from volvelle.quantities import Number
from volvelle.spread import LogNormal


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureTerms:
    """Of every point of a study."""

    recovery: RecoveryPolicy = field(default_factory=recovery_policy)
    hazard: LogNormal | None = None
    """Failures a second of eight accelerators; None: as clusters that were measured have them, wider far from these and
    on chips of other families."""
    spares: int | None = None
    """Nodes; None: a pool that others fill."""

    @classmethod
    def of(cls, form: FailuresForm) -> "FailureTerms":
        """As a study states it."""
        policy = recovery_policy(
            form.recovery,
            restart=form.restart,
            stall=form.stall,
            write=form.write,
            interval=form.interval,
            replicas=form.replicas,
            common=form.common,
            survived=form.survived,
            storage_stall=form.storage_stall,
            storage_restart=form.storage_restart,
        )
        if form.restart is not None:
            policy = replace(policy, restart=LogNormal(form.restart, form.restart_factor))
        if form.stall is not None:
            policy = replace(policy, stall=LogNormal(form.stall, form.stall_factor))
        return cls(
            recovery=policy,
            hazard=None if form.hazard is None else LogNormal(form.hazard, form.hazard_factor),
            spares=form.spares,
        )

    def rates(self, chips: Number, quantiles: Number, family: str) -> Number:
        """Interruptions a second of a job on so many accelerators of a family, at quantiles; both broadcast."""
        if self.hazard is not None:
            return chips / NODE * self.hazard.at(np.asarray(quantiles))
        return chips / NODE * rate_prior().at(chips, quantiles, family)

    def waiting(self, chips: Number) -> Number:
        """Share of time in which more nodes are out than there are spares."""
        if self.spares is None:
            return 0.0
        middle = rate_prior().median if self.hazard is None else self.hazard.median
        dispersion = recorded_out().dispersion
        return waiting_share(chips / NODE, rate=middle, repair=repair_time(), dispersion=dispersion, spares=self.spares)

    def with_spares(self, chips: Number) -> Number:
        """Accelerators that are paid for and powered over those that work."""
        return 1.0 + (self.spares or 0) * NODE / chips
