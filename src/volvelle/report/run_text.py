"""A whole training run in words: days, money, energy."""

from collections.abc import Callable

from volvelle.economics.training_run import TrainingRun
from volvelle.quantities import DOLLARS, TOKEN_COUNT, percent, show

_MEGAWATT_HOUR = 3.6e9


def run_lines(run: TrainingRun) -> list[str]:
    """One line each for time, money and energy, with their ranges."""

    def span(name: str, shown: Callable[[float], str]) -> str:
        found = run.ranges.get(name)
        return "" if found is None else f", {shown(found.low)} … {shown(found.high)}"

    days = f"{_plain(run.days)} days" + span("days", _plain)
    money = []
    if run.usd_owned is not None:
        money.append(f"{_dollars(run.usd_owned)} owned" + span("usd_owned", _dollars))
    if run.usd_rented is not None and run.rent is not None:
        hour = f"{run.rent['usd_per_hour']:.2f} USD per accelerator-hour: {run.rent['offered']}"
        money.append(f"{_dollars(run.usd_rented)} rented" + span("usd_rented", _dollars) + f" (at {hour})")
    missing = [way for way, usd in (("owned", run.usd_owned), ("rented", run.usd_rented)) if usd is None]
    money += [f"{way}: no price known" for way in missing] if money else ["money: no price known"]
    lines = [
        f"{show(run.tokens, TOKEN_COUNT)} tokens in {run.steps:,.0f} steps: {days}",
        "; ".join(money),
    ]
    if run.joules is not None:
        lines.append(f"{_energy(run.joules)} MWh" + span("joules", _energy))
    told = "without failures, checkpoints and restarts"
    if run.ettr is not None:
        days = _plain(run.days_with_failures)
        told += f"; with those of other clusters {days} days, ETTR {percent(run.ettr)} (volvelle job)"
    return [*lines, told]


def run_figures(run: TrainingRun) -> list[tuple[str, str]]:
    """The same as figures: what it is, and how that is called, with its range."""

    def name(word: str, key: str, shown: Callable[[float], str], more: str = "") -> str:
        found = run.ranges.get(key)
        return word + ("" if found is None else f", {shown(found.low)} … {shown(found.high)}") + more

    figures = [(f"{_plain(run.days)} days", name(f"for {show(run.tokens, TOKEN_COUNT)} tokens", "days", _plain))]
    if run.usd_owned is not None:
        figures.append((_dollars(run.usd_owned), name("owned", "usd_owned", _dollars)))
    if run.usd_rented is not None and run.rent is not None:
        hour = f", at {run.rent['usd_per_hour']:.2f} USD per accelerator-hour: {run.rent['offered']}"
        figures.append((_dollars(run.usd_rented), name("rented", "usd_rented", _dollars, hour)))
    if run.joules is not None:
        figures.append((f"{_energy(run.joules)} MWh", name("energy", "joules", _energy)))
    return figures


def _dollars(value: float) -> str:
    return show(value, DOLLARS)


def _energy(value: float) -> str:
    return _plain(value / _MEGAWATT_HOUR)


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
