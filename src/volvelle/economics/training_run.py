"""A whole training run: so many tokens at the pace of one step, in days, energy and money."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from volvelle.domains import TOKENS
from volvelle.economics.step_cost import Costs, Timed
from volvelle.errors import DescriptionError
from volvelle.estimators.result import Range
from volvelle.laws.price import rented_price
from volvelle.quantities import DAY

_NO_UNIT = 1e4
"""Tokens below which a unit was probably forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """What all tokens take. Nothing is added for failures, checkpoints, evaluation or restarts."""

    tokens: float
    steps: float
    days: float
    joules: float | None
    usd_owned: float | None
    """The run's share of owning the machine, and its energy."""
    usd_rented: float | None
    """All accelerators rented by the hour."""
    rent: Mapping[str, float | str] | None
    """Dollars per accelerator-hour, and whose list prices these are, from when."""
    ettr: float | None = None
    """Effective training time ratio where it is interrupted as others are; None: nobody was asked."""
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """Of days, joules, usd_owned and usd_rented, as far as they are known."""

    @property
    def days_with_failures(self) -> float:
        """Days with failures, checkpoints and restarts; without a failure model, `days`."""
        return self.days if self.ettr is None else self.days / self.ettr


def run_tokens(tokens: str | float, per_step: float) -> float:
    """Return the tokens of a whole run; rejected where they are less than one step of `per_step` tokens."""
    wanted = TOKENS.read(tokens, "tokens")
    if wanted < per_step:
        meant = f"; did you mean {wanted:g}T?" if wanted < _NO_UNIT else ""
        raise DescriptionError(f"{wanted:,.0f} tokens are less than one step of {per_step:,.0f} tokens{meant}")
    return wanted


def training_run(
    tokens: float,
    estimate: Timed,
    costs: Costs,
    *,
    hourly: float | None = None,
    offered: str = "",
    ettr: float | None = None,
) -> TrainingRun:
    """The run that a step is one of; `hourly` is the rent of an accelerator, `offered` whose list prices it is."""
    steps = tokens / estimate.tokens
    ranges = {}
    found = {"days": ("time", 1.0 / DAY), "joules": ("energy", 1.0), "usd_owned": ("dollars", 1.0)}
    known = {**estimate.ranges, **costs.ranges}
    for name, (of_step, unit) in found.items():
        if of_step in known:
            ranges[name] = _scaled(known[of_step], steps * unit)
    rented = None
    if hourly is not None:
        rented = float(rented_price(steps * estimate.time, estimate.chips, per_chip_hour=hourly))
        if "time" in known:
            ranges["usd_rented"] = _scaled(known["time"], rented / estimate.time)
    return TrainingRun(
        tokens=tokens,
        steps=steps,
        days=steps * estimate.time / DAY,
        joules=None if costs.energy is None else steps * float(costs.energy),
        usd_owned=None if costs.dollars is None else steps * float(costs.dollars),
        usd_rented=rented,
        rent=None if hourly is None else {"usd_per_hour": hourly, "offered": offered},
        ettr=ettr,
        ranges=ranges,
    )


def _scaled(span: Range, factor: float) -> Range:
    return replace(span, low=span.low * factor, high=span.high * factor)
