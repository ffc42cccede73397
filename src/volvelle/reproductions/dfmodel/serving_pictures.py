"""Figures 20 and 21 of the DFModel paper as pictures: ours, with what was logged beside it."""

from collections.abc import Mapping, Sequence

from volvelle.report.figures.bars import Bar, BarGroup, BarPanel, Slot, bar_chart
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.theme import BLUE, GREEN, GREY, NAVY, ORANGE, RUST, SKY, VIOLET, WIDE
from volvelle.reproductions.dfmodel.serving import ServedLayout
from volvelle.reproductions.dfmodel.speculation import (
    ACCEPTANCES,
    BRANCHES,
    DRAFTS,
    LEVELS,
    SEQUENCE,
    WINDOWS,
    Speculation,
)

_THROUGHPUT = "throughput"
_PARTS = {
    "compute": BLUE,
    "memory": ORANGE,
    "network, bytes": RUST,
    "network, latency": GREY,
    "between stages": VIOLET,
    _THROUGHPUT: GREEN,
}
_SCHEMES = {
    SEQUENCE: "sequence of K drafts",
    BRANCHES: "tree of two candidates, drafted a branch at a time",
    LEVELS: "tree of two candidates, drafted a level at a time",
}


def layouts_picture(found: Sequence[ServedLayout], *, width: float = WIDE) -> Chart:
    """Figure 20."""
    panels = []
    for phase, title, y_title, per in (
        ("prefill", "a prompt of 4096 tokens", "TTFT, ms", 1e3),
        ("decode", "one token more", "TPOT, ms", 1.0),
    ):
        passes = {layout.name: getattr(layout, phase) for layout in found}
        spent = {
            name: Bar(
                parts=tuple((part, seconds * 1e3) for part, seconds in one.breakdown.items()),
                logged=one.run.latency * 1e3,
                title=f"{name}, {phase}",
            )
            for name, one in passes.items()
        }
        handled = {
            name: Bar(
                parts=((_THROUGHPUT, one.tokens_per_second / per),),
                logged=one.logged_tokens_per_second / per,
                title=f"{name}, {phase}",
            )
            for name, one in passes.items()
        }
        panels += [
            _panel(f"{phase}: {title}", y_title, spent),
            _panel(f"{phase}: all requests", f"{'1000 ' if per > 1 else ''}tokens/s", handled),
        ]
    return bar_chart(
        panels,
        title="Figure 20: Llama-3-8B served on 16 SN40L",
        about="Time to first token and time per output token by layout, with what they are spent on, and throughput.",
        colours=_PARTS,
        logged="logged",
        said="By tensor × pipeline degree.",
        height=100.0,
        width=width,
    )


def _panel(title: str, y_title: str, bars: Mapping[str, Bar]) -> BarPanel:
    slots = tuple(Slot(label=name, bars=(bar,)) for name, bar in bars.items())
    return BarPanel(title=title, groups=(BarGroup(label="", slots=slots),), y_title=y_title)


def speculation_picture(found: Speculation, *, width: float = WIDE) -> Chart:
    """Figure 21."""
    colours = dict(zip((f"{share:g} accepted" for share in ACCEPTANCES), (SKY, BLUE, NAVY, VIOLET), strict=True))
    rates = {(one.scheme, one.draft, one.window, one.acceptance): one for one in found.rates}
    panels = []
    for scheme, title in _SCHEMES.items():
        groups = []
        for draft, name in DRAFTS.items():
            slots = []
            for window in WINDOWS:
                bars = []
                for share, said in zip(ACCEPTANCES, colours, strict=True):
                    one = rates[scheme, draft, window, share]
                    words = f"{name}, K = {window}, {said}"
                    bars.append(Bar(parts=((said, one.rate),), logged=one.logged, title=words))
                slots.append(Slot(label=str(window), bars=tuple(bars)))
            groups.append(BarGroup(label=f"draft of {name}", slots=tuple(slots)))
        panels.append(BarPanel(title=title, groups=tuple(groups), y_title="tokens/s"))
    return bar_chart(
        panels,
        title="Figure 21: Llama-3-405B with drafts on 16 SN40L",
        about="Tokens a second by draft model, window and acceptance, for sequences and for trees of drafts.",
        colours=colours,
        logged="from logged steps",
        said=f"By window K. Without a draft {found.alone:.1f} tokens/s.",
        height=120.0,
        width=width,
    )
