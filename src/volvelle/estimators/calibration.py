"""What runs taught of chips: fitted constants, by chip, element type and software stack, with evidence and domain.

A chip holds what its maker built. How near to its peaks it gets, what starting a kernel costs, how far whole steps
were off: these are fitted to runs, and are handed to an estimator as a value.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from volvelle.domains import (
    ATTENTION_SHARE,
    DELAY,
    ERROR_FACTOR,
    HALF,
    LOGIT_BYTES,
    MARGIN,
    MULTIPLE,
    NO_SHARE,
    SHARE,
    SM_SHARE,
    STATE_BYTES,
    TIMES_DISPATCH,
    TIMES_NETWORK,
    NumberDomain,
    check_fields,
    domains_of,
    number,
    within_domains,
)
from volvelle.errors import DescriptionError, OutsideDomainError, UnknownNameError
from volvelle.estimators.stack import OwnRan, Stack
from volvelle.estimators.step_errors import StepError, StepErrors, own_runs_left
from volvelle.presentable import only_what_is_set
from volvelle.quantities import Bytes, Count, Fraction, Number, Seconds
from volvelle.spread import Figure
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FittedConstants:
    """The constants that hold for one chip in one element type; those that nobody fitted are ideal."""

    matrix_efficiency: Fraction = number(SHARE, 1.0)
    """Sustained fraction of the dense peak on large matrix products."""
    sustained_clock: Fraction = number(SHARE, 1.0)
    """Share of that which power leaves when products run back to back for minutes, as in training; already in
    `matrix_efficiency` there."""
    memory_efficiency: Fraction = number(SHARE, 1.0)
    """Sustained fraction of the peak rate of memory."""
    gemm_k_half: Count = number(HALF, 0.0)
    """Inner steps of a product that starting and writing a tile is worth."""
    kernel_launch_time: Seconds = number(DELAY, 0.0)
    """Time a kernel takes beyond its work: starting and ending on all units."""
    host_dispatch_time: Seconds = number(DELAY, 0.0)
    """Time the host takes to prepare a kernel, while the chip works on those before it."""
    routing_dispatch: Number = number(TIMES_DISPATCH, 0.0)
    """Time the host takes to bring tokens to experts in one pass of a layer, unless a dispatcher does it on the chip,
    over that for a kernel."""
    plain_dispatch: Number = number(TIMES_NETWORK, 1.0)
    """Time in which tokens reach experts by plain all-to-alls, sorted and counted around them, over the network's."""
    attention_efficiency: Fraction = number(ATTENTION_SHARE, 1.0)
    """Rate of a fused attention kernel over that of large matrix products."""
    attention_kv_half: Count = number(HALF, 0.0)
    """Keys that starting and ending a query tile of such a kernel is worth."""
    communication_sm_share: Fraction = number(SM_SHARE, 0.0)
    """Share of its units that communication takes while it runs beside computation."""
    tensor_exposure: Fraction = number(NO_SHARE, 1.0)
    """Share of the tensor axis's exchanges that products beside them do not hide."""
    hand_over_exposure: Fraction = number(NO_SHARE, 1.0)
    """Share of what stages hand over that computation beside it does not hide."""
    loss_bytes: Bytes = number(LOGIT_BYTES, 0.0)
    """Bytes a logit that the loss needs beside the logits while it runs; software decides."""
    sharded_loss_bytes: Bytes | None = number(LOGIT_BYTES, None)
    """Likewise where tensor ranks share the logits; None: as much."""
    gradient_copy_bytes: Bytes = number(STATE_BYTES, 0.0)
    """Bytes a parameter of gradients in 16 bits that software holds beside those it accumulates in 32."""
    weight_shard_bytes: Bytes | None = number(STATE_BYTES, None)
    """Bytes a parameter of weights that replicas share out with ZeRO-3 beside a copy in 32 bits; None: in 16 bits."""
    gather_copy_bytes: Bytes = number(STATE_BYTES, 0.0)
    """Bytes that software moves in memory for each byte of weights that it gathers where replicas share them out."""
    reduce_copy_bytes: Bytes = number(STATE_BYTES, 0.0)
    """Bytes a parameter that it moves before it reduces gradients that are shared out, in 16 bits."""
    wide_reduce_copy_bytes: Bytes = number(STATE_BYTES, 0.0)
    """Likewise in 32 bits."""
    gradient_add_bytes: Bytes = number(STATE_BYTES, 0.0)
    """Bytes a parameter that it moves after each backward pass to add gradients in 16 bits to those in 32."""
    list_gather_time: Seconds = number(DELAY, 0.0)
    """Time a layer and rank that the host takes to gather weights shared out, where software does so through lists."""
    list_reduce_time: Seconds = number(DELAY, 0.0)
    """Likewise to reduce gradients that are shared out."""
    list_restore_time: Seconds = number(DELAY, 0.0)
    """Likewise, once a step, to bring together weights that stay whole, after the optimiser."""
    memory_margin: Fraction = number(MARGIN, 0.0)
    """Share of the memory of chips and hosts that is left free before something is said to fit; no more than the
    fullest of own runs left by prediction, which is less than nothing where that is more than there is."""
    step_error: float | None = number(ERROR_FACTOR, None)
    """How far whole steps on such chips were off in calibration, one standard deviation as a factor; None: unknown."""
    memory_error: float | None = number(ERROR_FACTOR, None)
    """How far the memory of a rank may be off, likewise."""
    memory_spike: float | None = number(ERROR_FACTOR, None)
    """By what factor a run may need more than that, for a moment or between tensors, likewise."""
    memory_ratio: Fraction = number(MULTIPLE, 1.0)
    """What own runs say that chips reserve over what is predicted."""
    memory_alike: Fraction = number(NO_SHARE, 0.0)
    """How far the error of memory is that of another run of the same software on the same machine, as a chance."""
    ran: tuple[OwnRan, ...] = ()
    """What own runs needed of memory, and ran."""
    figures: Mapping[str, Figure] = field(default_factory=dict, repr=False)
    """How sure we are of the fields above, by name: spread, evidence, source."""

    def __repr__(self) -> str:
        return only_what_is_set(self)


CONSTANTS: Mapping[str, NumberDomain] = MappingProxyType(domains_of(FittedConstants))
"""Every constant, and its domain."""
_IDEAL = {part.name: part.default for part in fields(FittedConstants) if part.name in CONSTANTS}
ERRORS = ("step_error", "memory_error", "memory_spike", "memory_ratio", "memory_alike")
"""Those that say how far estimates were off."""
HELD_BYTES = ("loss_bytes", "sharded_loss_bytes", "gradient_copy_bytes", "weight_shard_bytes")
"""Those that say what software holds."""
MOVED_BYTES = ("gather_copy_bytes", "reduce_copy_bytes", "wide_reduce_copy_bytes", "gradient_add_bytes")
"""Those that say what it copies."""
LIST_TIMES = ("list_gather_time", "list_reduce_time", "list_restore_time")
"""Those that say what it takes the host to exchange tensors through lists of parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """Which runs constants were fitted to; empty: they were fitted to none."""

    runs: int = 0
    chips: tuple[int, int] | None = None
    """Fewest and most chips of a run."""
    elements: tuple[str, ...] = ()
    publications: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self, "domain of a calibration")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Calibration:
    """Constants fitted for one kind of chip; narrower ones may state fewer, the rest is looked for further out."""

    chip: str = ""
    """Name of the chip; empty: of a whole family, or of any chip."""
    family: str = ""
    element: str = ""
    """Element type of products; empty: any."""
    stack: str = ""
    """Software that ran; empty: any."""
    constants: Mapping[str, Number]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    domain: Domain = field(default_factory=Domain)

    def __post_init__(self) -> None:
        check_fields(self, "calibration")
        for name, value in self.constants.items():
            if name not in CONSTANTS:
                raise UnknownNameError.among("constant of a calibration", name, CONSTANTS)
            if isinstance(value, int | float):
                CONSTANTS[name].check(value, f"calibration {self.name!r}: {name}")
        if (self.family and (self.chip or self.element)) or (self.element and not self.chip):
            raise DescriptionError(
                f"the calibration {self.name!r} is of a family or of any chip, and those have no element type of "
                "their own: name the chip"
            )
        if self.stack and not self.element:
            raise DescriptionError(f"the calibration {self.name!r} is of a software stack; name its element type too")

    def __repr__(self) -> str:
        return f"Calibration({self.name!r}: {', '.join(self.constants)}; {self.domain.runs} runs)"

    @property
    def name(self) -> str:
        """Chip, element type and stack, as its file is named."""
        whose = self.chip or (f"family.{self.family}" if self.family else "default")
        parts = (whose, self.element, self.stack)
        return ".".join(part for part in parts if part)

    def rank(self, chip: Chip, element: str, stack: str) -> int | None:
        """How closely it fits a question, 0 being nearest; None: it is of something else."""
        if self.chip:
            if self.chip != chip.name or self.element not in ("", element) or self.stack not in ("", stack):
                return None
            return 0 if self.stack else 1 if self.element else 2
        if self.family:
            return 3 if self.family == chip.family else None
        return 4


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrations:
    """Calibrations to choose from, and the order in which they are asked, constant by constant.

    First chip, element type and stack; then chip and element type; chip; family; any chip. What none of them states
    is ideal.
    """

    entries: tuple[Calibration, ...] = ()
    stack: str = ""
    """Software that is meant; empty: any."""
    software: Stack | None = None
    """How far it lets chips get; None: as the entries say."""
    errors: Callable[[], StepErrors] | None = None
    """How far whole steps are off with it, found when asked for; None: as the entries say."""
    lone: bool = False
    """Products do not run back to back for long: of what is no training step."""
    chosen: Mapping[str, Number] = field(default_factory=dict)
    """Constants that hold whatever the entries say: an axis of a study, a candidate of a fit."""

    def __post_init__(self) -> None:
        check_fields(self, "calibrations")

    @classmethod
    def of(cls, **constants: Number) -> "Calibrations":
        """The same constants for every chip."""
        return cls(entries=(Calibration(constants=constants),))

    def constants(self, chip: Chip, element: str) -> FittedConstants:
        """What holds for a chip in an element type."""
        values: dict[str, Any] = {}
        figures: dict[str, Figure] = {}
        ranked = self.used(chip, element)
        for entry in reversed(ranked):
            values |= entry.constants
            figures |= {name: entry.figures[name] for name in entry.constants if name in entry.figures}
        if "sustained_clock" in values and not self.lone:
            values["matrix_efficiency"] = values.get("matrix_efficiency", 1.0) * values["sustained_clock"]
        if self.software is not None:
            values = self.software.applied(values, _IDEAL, chip.family, element)
        if self.errors is not None and not self.lone and not self.own_runs(chip, element):
            errors = self.errors()
            left = errors.left(chip.family, element, self.stack)
            values["step_error"] = errors.on(left, chip.family, stated=values.get("step_error"), named=bool(self.stack))
        set_here = {
            name: float(value) for name, value in self.chosen.items() if name in figures and np.ndim(value) == 0
        }
        figures |= {name: figures[name].set_to(value) for name, value in set_here.items()}
        return FittedConstants(**{**values, **self.chosen}, figures=figures)

    def step_error(
        self,
        chip: Chip,
        element: str,
        *,
        mixture: bool,
        chips: int,
        own: float | None = None,
        by_constants: float | None = None,
    ) -> StepError:
        """How far a whole step may be off, by its kind of model and its size too.

        `own` is what own runs leave of the very step, as a factor; None: of any. `by_constants` is the same by what
        published runs leave open.
        """
        if self.errors is None or "step_error" in self.chosen:
            return StepError(factor=self.constants(chip, element).step_error)
        if self.software is not None and self.own_runs(chip, element):
            beyond = own_runs_left(self.software.own_chips, self.software.own_mixture, mixture=mixture, chips=chips)
            own = self.software.own_errors[chip.family, element] if own is None else own
            told = self.software.own_unpriced
            return StepError(factor=self.errors().beside(beyond, own), left=beyond, own=True, told=told)
        errors = self.errors()
        left = errors.left(chip.family, element, self.stack, mixture=mixture, chips=chips)
        if by_constants is not None:
            return StepError(factor=errors.of_its_own(left, by_constants), left=left, of=errors, by_constants=True)
        stated = replace(self, errors=None).constants(chip, element).step_error
        factor = errors.on(left, chip.family, stated=stated, named=bool(self.stack))
        return StepError(factor=factor, left=left, of=errors)

    def own_runs(self, chip: Chip, element: str) -> bool:
        """Whether runs of one's own say how far steps are off."""
        return self.software is not None and (chip.family, element) in self.software.own_errors

    def used(self, chip: Chip, element: str) -> tuple[Calibration, ...]:
        """Entries that fit a question, nearest first."""
        ranks = [(entry.rank(chip, element, self.stack), entry) for entry in self.entries]
        found = sorted(((rank, entry) for rank, entry in ranks if rank is not None), key=lambda pair: pair[0])
        others = {entry.chip for entry in self.entries if entry.chip}
        if others and chip.name not in others:
            raise OutsideDomainError(
                f"the calibrations at hand are of {', '.join(sorted(others))} and the machine has {chip.name!r}: when "
                "you change a machine's chip, hand over the other chip's calibrations too (Catalogue.with_chip does)"
            )
        return tuple(entry for _, entry in found)

    def with_values(self, values: Mapping[str, Number]) -> "Calibrations":
        """The same with some constants replaced for every question, each by a number or a column."""
        for name in values:
            if name not in CONSTANTS:
                raise UnknownNameError.among("constant of a calibration", name, CONSTANTS)
        return replace(self, chosen={**self.chosen, **values})


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CalibratedCluster(Cluster):
    """A machine together with what runs on its chips taught: what the catalogue hands to estimators.

    The machine itself stays facts alone. An estimator that is given a calibration of its own goes by that instead.
    """

    calibrations: Calibrations


def calibrated(cluster: Cluster, calibrations: Calibrations) -> CalibratedCluster:
    """A machine with these calibrations in place of any it had."""
    facts = {part.name: getattr(cluster, part.name) for part in fields(Cluster)}
    return CalibratedCluster(**facts, calibrations=calibrations)


def calibrations_of(cluster: Cluster) -> Calibrations:
    """Those a machine comes with, or none."""
    return cluster.calibrations if isinstance(cluster, CalibratedCluster) else Calibrations()


@within_domains
def fitted_constants(
    cluster: Cluster, element: str, calibration: Calibrations | None = None, *, software: bool = True
) -> FittedConstants:
    """Constants of a machine's chip: by the calibration given, or by the one it comes with, or ideal ones.

    Without `software` those of the chip whatever trains on it: of what is no training step.
    """
    calibration = calibrations_of(cluster) if calibration is None else calibration
    return (calibration if software else replace(calibration, software=None, lone=True)).constants(
        cluster.chip, element
    )


def with_software(system: Cluster, software: Stack) -> Cluster:
    """A machine on which other software runs."""
    return calibrated(system, replace(calibrations_of(system), software=software))


def with_constants(cluster: Cluster, values: Mapping[str, Number]) -> Cluster:
    """The machine with some fitted constants replaced, each by a number or a column."""
    if not values:
        return cluster
    return calibrated(cluster, calibrations_of(cluster).with_values(values))


def with_margin(cluster: Cluster, margin: str | float | None) -> Cluster:
    """The machine with another share of memory left free, where one is given."""
    return cluster if margin is None else with_constants(cluster, {"memory_margin": MARGIN.read(margin, "margin")})
