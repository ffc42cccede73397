"""Work between checkpoints: the exact time of a run that fails at random, and the interval that makes it least."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Number, Seconds

_STEPS = 4
"""Of Halley's iteration: they reach rounding for every stall up to 30 times the time between failures."""


@cites("daly2006checkpoint", place="equation 20, the complete cost function; Aupy et al. 2013, section 3, add D")
def renewal_time(
    work: Seconds, *, between: Seconds, stall: Seconds, restart: Seconds = 0.0, downtime: Seconds = 0.0
) -> Number:
    r"""Wall time for each second of work, where a failure throws a job back to its last checkpoint.

    $$ w = (M + D)\,e^{R/M}\,\frac{e^{(T+C)/M} - 1}{T} $$

    T is the work between checkpoints, C the stall of one, R the restart, in which failures occur too, and D a downtime
    in which none does. Assumes exponential failures, M apart on average; exact then. Without failures 1 + C/T.
    """
    mean, period = np.asarray(between, dtype=float), np.asarray(work) + np.asarray(stall)
    never = np.isinf(mean)
    finite = np.where(never, 1.0, mean)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.expm1(period / finite) * np.exp(np.asarray(restart) / finite)
        failing = (finite + np.asarray(downtime)) * grown / work
    return np.asarray(np.where(never, period / work, failing))


@cites("corless1996lambert", place="section 4, W0 by Halley's iteration; Aupy et al. 2013, theorem 1, for the optimum")
def best_interval(between: Seconds, stall: Seconds) -> Seconds:
    r"""Work between checkpoints that makes a run shortest; restart and downtime do not move it.

    $$ T^* = M\,\bigl(1 + W_0(-e^{-1-C/M})\bigr) $$

    With x = T*/M this is $-\ln(1-x) - x = C/M$, solved by Halley's iteration: nothing cancels where C is small. Assumes
    exponential failures and a stall above zero; without a stall the interval is none.
    """
    ratio = np.asarray(stall, dtype=float) / np.asarray(between, dtype=float)
    root, tail = np.sqrt(2.0 * np.minimum(ratio, 1.0)), np.exp(-1.0 - ratio)
    x = np.where(ratio < 1.0, root - root**2 / 3.0 + root**3 / 36.0, 1.0 - tail * (1.0 + tail))
    for _ in range(_STEPS):
        left = np.maximum(1.0 - x, 1e-300)
        off = -np.log(left) - x - ratio
        slope = np.maximum(2.0 * x * x - off, 1e-300)
        x = np.clip(x - 2.0 * off * x * left / slope, 0.0, 1.0)
    return np.asarray(np.where(np.isinf(between), np.inf, np.where(np.isinf(between), 1.0, between) * x))


@cites("young1974checkpoint", place="equation 5")
def young_interval(between: Seconds, stall: Seconds) -> Seconds:
    r"""Young's interval, of first order.

    $$ T_Y = \sqrt{2 C M} $$

    Assumes a stall much shorter than the time between failures.
    """
    return np.asarray(np.sqrt(2.0 * np.asarray(stall) * np.asarray(between)))


@cites("daly2006checkpoint", place="equation 37")
def daly_interval(between: Seconds, stall: Seconds) -> Seconds:
    r"""Daly's interval, of higher order.

    $$ T_D = \sqrt{2 C M}\,\Bigl(1 + \tfrac13\sqrt{\tfrac{C}{2M}} + \tfrac{C}{18M}\Bigr) - C $$

    It is M where C ≥ 2M. Assumes exponential failures.
    """
    ratio = np.asarray(stall, dtype=float) / (2.0 * np.asarray(between))
    near = np.sqrt(2.0 * np.asarray(stall) * between) * (1.0 + np.sqrt(ratio) / 3.0 + ratio / 9.0) - stall
    return np.asarray(np.where(ratio >= 1.0, between, near))


@cites("kokolis2025reliability", place="expected ETTR, section V")
def expected_ettr(work: Seconds, *, between: Seconds, stall: Seconds, restart: Seconds) -> Number:
    r"""Effective training time ratio of first order, as RSC's authors write it.

    $$ \mathrm{ETTR} \approx \frac{1 - (R + T/2)/M}{1 + C/T} $$

    Assumes at most one failure in a period: a point low where M is ten periods, useless where it is one.
    """
    return (1.0 - (restart + np.asarray(work) / 2.0) / between) / (1.0 + stall / np.asarray(work))


@cites("daly2006checkpoint", place="equation 20, its terms: work, dumps, rework, restarts")
def rework_time(work: Seconds, *, between: Seconds, stall: Seconds) -> Number:
    r"""Time of each second of work that is spent on what a failure then threw away.

    $$ \frac{M\,(e^{(T+C)/M} - 1) - T - C}{T} $$

    Assumes exponential failures; exact then. What is left of the renewal time is restarts.
    """
    mean, period = np.asarray(between, dtype=float), np.asarray(work) + np.asarray(stall)
    finite = np.where(np.isinf(mean), 1.0, mean)
    with np.errstate(over="ignore"):
        lost = finite * np.expm1(period / finite) - period
    return np.asarray(np.where(np.isinf(mean), 0.0, lost / work))


@cites("rajbhandari2020zero", place="section 3.1: bytes of mixed-precision Adam for a parameter, gradients left out")
def checkpoint_bytes(parameters: Number, *, weights: Number = 2.0, optimiser: Number = 12.0) -> Number:
    r"""Size of a checkpoint.

    $$ b = p\,(w + o) $$

    Assumes every parameter has its state, and gradients are not kept.
    """
    return parameters * (np.asarray(weights) + optimiser)


@cites(
    "wan2025bytecheckpoint", place="section 4: state copied to host memory while the job stands, then written behind it"
)
def copy_stall(size: Number, chips: Number, *, rate: Number, barrier: Seconds = 0.0) -> Seconds:
    r"""Stall of a checkpoint that is first copied to host memory.

    $$ s = \frac{b}{N r} + t_b $$

    r is the rate from an accelerator to its host and $t_b$ the time until all stand still. Assumes each chip holds an
    equal share, once.
    """
    return np.asarray(size) / (np.asarray(chips) * rate) + barrier


@cites("wan2025bytecheckpoint", place="table 8: end-to-end saving and loading over shared storage")
def storage_time(size: Number, *, rate: Number) -> Seconds:
    r"""Time to write or to load a checkpoint.

    $$ B = b / r_s $$

    Assumes the storage's rate is shared by all that write, and nothing else uses it.
    """
    return np.asarray(size) / rate
