"""A fleet as a person enjoys reading it."""

from collections.abc import Iterator

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from volvelle.applications.serving.fleet.sized import SizedService, Spent
from volvelle.quantities import DOLLARS, SECONDS, numbered, percent, show
from volvelle.report.serving.words import degrees_text
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import plain_table, print_lines, print_notes, wide_console
from volvelle.report.violations_text import brief_violations, violations_panel
from volvelle.verbs.fleet.answer import Fleet

_MOST_ROWS = 24
"""Hours that a table shows; of more, the busiest day."""
_NO_CURE = "no single change of layout, policy or machine that was tried is enough"
_UNKNOWN = "–"


def print_fleet(answer: Fleet, *, brief: bool = False) -> None:
    """Print a fleet: the answer first, then services, hours, places that were tried, and what was assumed."""
    console = wide_console(console=Console(highlight=False))
    if brief:
        print_lines(console, brief_lines(answer))
        return
    console.print(_headline(answer))
    if answer.violations:
        console.print(violations_panel(answer.violations, title="why not", no_cure=_NO_CURE))
    for sheet in sheets(answer):
        console.print(plain_table(sheet.title, sheet.columns, sheet.rows, numbers=sheet.numbers, folded=("why not",)))
    print_notes(console, answer.notes, but=answer.warnings)


def title_text(answer: Fleet) -> str:
    """What is served, on one line."""
    named = ", ".join(service.called for service in answer.form.services)
    return f"{answer.name}: {named}"


def figure_lines(answer: Fleet) -> Iterator[str]:
    """What comes of it: chips, money, power, whether limits held."""
    total = answer.total
    if total is None:
        return
    found = answer.ranges["chips"]
    yield (
        f"{numbered(total.chips, 'chip')} in the busiest minute ({percent(found.level, 0)} range "
        f"{found.low:,.0f}–{found.high:,.0f}), {total.chip_hours / total.hours:,.1f} on average"
    )
    for use in answer.machines:
        of = "" if use.available is None else f" of {use.available:,}"
        whom = ", ".join(use.services)
        yield f"{use.name}: {use.chips:,}{of} × {use.chip} ({numbered(use.nodes, 'node')}) for {whom}"
    yield (
        f"{total.requests:,.0f} requests in {_count(total.hours)} h: {_count(total.input_tokens / 1e6)} M tokens in, "
        f"{_count(total.output_tokens / 1e6)} M out"
    )
    for pay in ("rented", "owned"):
        yield from _money(answer, total, pay)
    if total.kw is not None:
        yield f"{_count(total.kw)} kW in the mean, {_count(total.kwh or 0.0)} kWh"
    yield _held(answer)


def _money(answer: Fleet, total: Spent, pay: str) -> Iterator[str]:
    dollars = total.paid(pay)
    if dollars is None:
        yield f"{pay}: no price known"
        return
    prompts, answers = total.per_million(pay)
    found = answer.ranges.get("dollars") if pay == answer.pay else None
    span = "" if found is None else f" ({show(found.low, DOLLARS)} … {show(found.high, DOLLARS)})"
    yield (
        f"{pay}: {show(dollars, DOLLARS)}{span}; a million tokens in {_dollars(prompts)}, out {_dollars(answers)} USD"
    )


def _held(answer: Fleet) -> str:
    checks = [check for one in answer.services for check in one.checks]
    if not checks:
        return "no hour was followed, so whether limits are kept when load changes is not known"
    missed = sum(not check.held for check in checks)
    followed = (
        f"{numbered(len(checks), 'hour')} of services followed, {sum(check.requests for check in checks):,} requests"
    )
    return f"limits kept: {followed}" if not missed else f"limits missed in {missed} of {followed}"


def brief_lines(answer: Fleet) -> Iterator[str]:
    """The answer in a few lines."""
    yield title_text(answer)
    yield from (f"note: {warning}" for warning in answer.warnings)
    yield from figure_lines(answer)
    for one in answer.services:
        yield service_line(one)
    yield from brief_violations(answer.violations)


def service_line(one: SizedService) -> str:
    """A service in one line."""
    found = one.capacity
    return (
        f"{one.name} on {one.machine}: a replica of {numbered(one.instance.layout.chips, 'chip')}"
        f"{degrees_text(one.instance.layout)} takes "
        f"{found.rate:.3g} requests/s ({found.range.low:.3g} … {found.range.high:.3g}), limited by {found.binding}; "
        f"starts in {show(one.cold_start, SECONDS)}"
    )


def _headline(answer: Fleet) -> Panel:
    text = Text()
    text.append(f"{title_text(answer)}\n\n", style="bold")
    for warning in answer.warnings:
        text.append(f"note: {warning}\n", style="yellow")
    for index, line in enumerate(figure_lines(answer)):
        text.append(f"{line}\n", style="bold green" if index == 0 else "")
    for one in answer.services:
        text.append(f"\n{service_line(one)}")
    if not answer.services:
        text.append("no fleet: it cannot be served so", style="bold red")
    good = answer.feasible
    title = "fleet" if good else "limits missed" if answer.services else "cannot run"
    return Panel(text, title=title, border_style="green" if good else "red", title_align="left")


def sheets(answer: Fleet) -> Iterator[Sheet]:
    """Hours, hours that were followed, and places."""
    if answer.services:
        yield _hours(answer)
        if any(one.checks for one in answer.services):
            yield _checks(answer)
    if len(answer.tried) > len(answer.form.services) or not answer.services:
        yield _places(answer)


def _shown_hours(answer: Fleet) -> tuple[int, int]:
    """All hours, or those of the day with the busiest."""
    count = len(answer.hours)
    if count <= _MOST_ROWS:
        return 0, count
    busiest = max(answer.hours, key=lambda row: row.spent.requests).hour
    first = _MOST_ROWS * (busiest // _MOST_ROWS)
    return first, min(first + _MOST_ROWS, count)


def _hours(answer: Fleet) -> Sheet:
    columns = ("hour", "req/s", "chips", "use", "kW", "USD", "USD/M in", "USD/M out", "limits")
    first, last = _shown_hours(answer)
    rows = []
    for row in answer.hours[first:last]:
        spent = row.spent
        prompts, answers = spent.per_million(answer.pay)
        paid = spent.paid(answer.pay)
        held = "" if row.held is None else "kept" if row.held else "missed"
        rows.append(
            (
                f"{row.hour}",
                f"{spent.rate:,.3g}",
                f"{spent.chips:,}",
                _use(answer, row.hour),
                _UNKNOWN if spent.kw is None else f"{spent.kw:,.1f}",
                _dollars(paid),
                _dollars(prompts),
                _dollars(answers),
                held,
            )
        )
    part = "" if last - first == len(answer.hours) else f", the busiest day of {len(answer.hours) / 24:.3g}"
    title = f"By the hour ({answer.pay}{part})"
    return Sheet(title=title, columns=columns, rows=tuple(rows), numbers=frozenset(columns[:-1]))


def _use(answer: Fleet, hour: int) -> str:
    """Of what ready replicas take within limits: of the service that uses most of it."""
    found = [one.hours[hour].use for one in answer.services if hour < len(one.hours)]
    known = [use for use in found if use is not None]
    return percent(max(known), 0) if known else _UNKNOWN


def _checks(answer: Fleet) -> Sheet:
    columns = ("service", "hour", "replicas", "requests", "limit", "found", "may be", "kept")
    rows = []
    for one in answer.services:
        for check in one.checks:
            for limit in one.limits:
                found = limit.found_in(check.latencies)
                rows.append(
                    (
                        one.name,
                        f"{check.hour}",
                        f"{one.hours[check.hour].ready}",
                        f"{check.requests:,}",
                        limit.name,
                        _UNKNOWN if found is None else show(found, SECONDS),
                        show(limit.seconds, SECONDS),
                        "yes" if found is None or found <= limit.seconds else "no",
                    )
                )
    title = "Hours followed request by request"
    return Sheet(
        title=title, columns=columns, rows=tuple(rows[:_MOST_ROWS]), numbers=frozenset(columns[1:4] + columns[5:7])
    )


def _places(answer: Fleet) -> Sheet:
    columns = ("service", "machine", "req/s a replica", "chips", "USD", "why not")
    chosen = {(one.name, one.machine) for one in answer.services}
    rows = []
    for place in answer.tried:
        taken = "taken" if (place.service, place.machine) in chosen else ""
        rows.append(
            (
                place.service,
                place.machine,
                _UNKNOWN if place.rate is None else f"{place.rate:.3g}",
                _UNKNOWN if place.chips is None else f"{place.chips:,}",
                _dollars(place.dollars),
                place.problem or taken,
            )
        )
    return Sheet(title="Places that were tried", columns=columns, rows=tuple(rows), numbers=frozenset(columns[2:5]))


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _dollars(value: float | None) -> str:
    return _UNKNOWN if value is None else _count(value)
