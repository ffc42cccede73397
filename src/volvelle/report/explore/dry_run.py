"""A study before it runs: what varies, how many points that makes, and what they will take."""

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from volvelle.quantities import show
from volvelle.studies.design_space.axes import Axis
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.fields import numeric_field
from volvelle.verbs.explore import Outlook

__all__ = ["duration", "print_study"]

_FEW = 5
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0


def duration(seconds: float) -> str:
    """A time one waits for, in words."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 2 * _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds / _HOUR:.1f} h"
    return f"{seconds / _DAY:,.1f} days"


def _shown(study: DesignStudy, path: str, axis: Axis) -> str:
    field = None if study.form.published is not None else numeric_field(path, study.base)
    kind = field.kind if field is not None else None
    words = [
        f"{value:g}"
        if kind is None and isinstance(value, int | float) and not isinstance(value, bool)
        else show(float(value), kind)
        if kind is not None
        else str(value)
        for value in axis.columns[path]
    ]
    return ", ".join(words) if len(words) <= _FEW else f"{words[0]}, {words[1]} … {words[-1]}"


def print_study(ahead: Outlook, *, console: Console | None = None) -> None:
    """Show a study's size and expected time."""
    study, expected, cores = ahead.study, ahead.forecast, ahead.cores
    table = Table(title="What varies", title_justify="left", box=None, pad_edge=False)
    table.add_column("axis", style="bold")
    table.add_column("values", justify="right")
    table.add_column("from … to", overflow="fold")
    for axis in study.axes:
        for place, path in enumerate(axis.columns):
            linked = "" if place == 0 else "  with the above"
            table.add_row(path, f"{len(axis)}" if place == 0 else "", _shown(study, path, axis) + linked)
    form = study.form
    works = "; ".join(
        one.called
        + (f", batch {one.batch:,}" if one.batch else "")
        + (f", weight {one.weight:g}" if one.weight != 1 else "")
        for one in form.workloads
    )
    drawn = f", drawn from {study.grid.combinations:,} (seed {form.seed})" if study.grid.drawn else ""
    policy = (
        "each mapped to a proven optimum"
        if form.published is not None
        else f"the best layout found anew at every point, about {expected.layouts:,.0f} priced each"
        if form.mapping.policy == "best"
        else "one layout, as given"
    )
    lines = [
        f"{works} on {form.system}" if works else f"the design space of {form.published}, as published",
        f"{expected.rows:,} points{drawn}; {policy}",
        f"{expected.rate:,.0f} points a second and core: about {duration(ahead.seconds)} on {cores} "
        f"core{'s' if cores > 1 else ''}",
    ]
    said = [Text(form.question, style="italic")] if form.question else []
    (console or Console()).print(
        Panel(Group(*said, *(Text(line) for line in lines)), title=form.name, title_align="left"), table
    )
