"""How many accelerators a run takes, as a page: the fewest, the cheapest, and the curve."""

from volvelle.quantities import DOLLARS, TOKEN_COUNT, show
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.lines import line_chart
from volvelle.report.figures.theme import WIDE
from volvelle.report.how_many_text import latest_days, limit_words, search_words, shown_sizes, unmet_words
from volvelle.report.page.builder import page
from volvelle.report.page.parts import Cell, Facts, Grid, Headline, Part, Picture, Row, Section, Warned
from volvelle.report.plan_words import choices_text, degrees_text
from volvelle.report.run_text import run_figures
from volvelle.verbs.how_many import Size, Sizing


def sizing_page(sizing: Sizing, *, command: str = "") -> str:
    """The page."""
    within = limit_words(sizing)
    sections = [Section(title="", anchor="answer", parts=_headlines(sizing))]
    if sizing.sizes:
        sections.append(_curve(sizing))
    step = sizing.step
    asked = (
        ("model", f"{sizing.model}, {step.model.parameters():,} parameters"),
        ("global batch", f"{step.batch:,} sequences of {sizing.sequence:,} tokens"),
        ("element", step.element),
        ("system", f"{sizing.system}, grown by whole nodes"),
        ("tokens in all", show(sizing.tokens, TOKEN_COUNT)),
        ("within", within),
    )
    sections.append(Section(title="The question, with every default", anchor="question", parts=(Facts(pairs=asked),)))
    return page(
        title=f"How many {sizing.system} accelerators for {sizing.model}",
        lead=f"{show(sizing.tokens, TOKEN_COUNT)} tokens within {within}.",
        verb="volvelle plan: how many accelerators",
        sections=sections,
        command=command,
    )


def _headlines(sizing: Sizing) -> tuple[Part, ...]:
    notes = tuple(Warned(f"{note[0].upper()}{note[1:]}.") for note in sizing.notes)
    smallest, cheapest = sizing.smallest, sizing.cheapest
    if smallest is None:
        return (Headline(value="none", says=unmet_words(sizing), parts=notes, fails=True),)
    latest = latest_days(smallest)
    if latest is not None and sizing.days is not None and latest > sizing.days:
        warning = f"The date lies inside the range: the run may take {latest:,.1f} days with failures."
        notes = (*notes, Warned(warning))
    notes = (*notes, *map(Warned, search_words(sizing)))
    spent = smallest.run.ranges.get("usd_owned")
    if spent is not None and sizing.usd is not None and spent.high > sizing.usd:
        notes = (*notes, Warned(f"The budget lies inside its range: it may cost up to {show(spent.high, DOLLARS)}."))
    if cheapest is None or cheapest.accelerators == smallest.accelerators:
        says = "the fewest" + ("" if cheapest is None else ", and no count near it is cheaper")
        return (_card(smallest, says, notes),)
    return (_card(smallest, "the fewest", notes), _card(cheapest, "the cheapest near it"))


def _card(size: Size, says: str, notes: tuple[Part, ...] = ()) -> Headline:
    return Headline(
        value=f"{size.accelerators:,} accelerators",
        says=says,
        figures=((f"{100 * size.utilisation:.1f} %", "of peak (MFU)"), *run_figures(size.run)),
        parts=(Facts(pairs=(("layout", f"{degrees_text(size.mapping)}; {choices_text(size.mapping)}"),)), *notes),
    )


def days_picture(sizing: Sizing, *, width: float = WIDE) -> Chart:
    """Days over the count."""
    sizes = shown_sizes(sizing)
    return line_chart(
        {"days with failures": [size.run.days_with_failures for size in sizes]},
        places=[f"{size.accelerators:,}" for size in sizes],
        title="Days of the run with failures",
        about="Days of the run with failures by the number of accelerators.",
        x_title="accelerators",
        y_title="days",
        limits=[(sizing.days, f"{sizing.days:g} days")] if sizing.days is not None else (),
        height=260.0,
        width=width,
    )


def money_picture(sizing: Sizing, *, width: float = WIDE) -> Chart:
    """Money over the count."""
    sizes = [size for size in shown_sizes(sizing) if size.usd is not None]
    limit = [(sizing.usd / 1e6, show(sizing.usd, DOLLARS))] if sizing.usd is not None else ()
    return line_chart(
        {"money": [float(size.usd or 0.0) / 1e6 for size in sizes]},
        places=[f"{size.accelerators:,}" for size in sizes],
        title="Cost of the run",
        about="Dollars of the run by the number of accelerators.",
        x_title="accelerators",
        y_title="million USD",
        limits=limit,
        height=260.0,
        width=width,
    )


def _curve(sizing: Sizing) -> Section:
    best = {size.accelerators for size in (sizing.smallest, sizing.cheapest) if size is not None}

    def row(size: Size) -> Row:
        return Row(
            cells=(
                Cell(text=f"{size.accelerators:,}", value=float(size.accelerators)),
                Cell(text=f"{size.run.days_with_failures:,.1f}", value=size.run.days_with_failures),
                Cell(text=f"{100 * size.utilisation:.1f} %", value=size.utilisation),
                "–" if size.usd is None else Cell(text=show(size.usd, DOLLARS), value=size.usd),
                f"{degrees_text(size.mapping)}; {choices_text(size.mapping)}",
            ),
            chosen=size.accelerators in best,
        )

    columns = ("accelerators", "days with failures", "MFU", "money", "layout")
    grid = Grid(
        title="Counts that were looked at",
        columns=columns,
        rows=tuple(map(row, sizing.sizes)),
        numbers=frozenset(columns[:4]),
        note="Pictures show the counts that are faster than every smaller one.",
    )
    drawn: list[Part] = [Picture(draw=lambda width: days_picture(sizing, width=width))]
    if any(size.usd is not None for size in sizing.sizes):
        drawn.append(Picture(draw=lambda width: money_picture(sizing, width=width)))
    return Section(title="Counts", anchor="counts", parts=(*drawn, grid))
