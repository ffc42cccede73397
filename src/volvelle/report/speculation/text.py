"""What drafts change, as a person enjoys reading it: lines of the headline, and tables."""

from collections.abc import Iterator

from volvelle.applications.acceptance.drafters import NAMES
from volvelle.applications.serving.speculation.gain import SpeculationGain
from volvelle.quantities import SECONDS, numbered, show, whole_text
from volvelle.report.sheet import Sheet

_WITHOUT = "without"


def drafts_text(found: SpeculationGain) -> str:
    """Who drafts, how many tokens, and what a cycle yields."""
    drafting = found.speculation.drafting
    whose = f" {drafting.model}" if drafting.model else ""
    kind = NAMES[drafting.drafter].removesuffix("s")
    if drafting.branching:
        shape = f"a tree of {'×'.join(str(branches) for branches in drafting.levels)}"
        how = f"{shape}, {drafting.positions} positions verified"
    else:
        how = f"{numbered(drafting.window or 0, 'token')} drafted"
    return f"{kind}{whose}: {how}, {found.speculation.tokens:.2f} tokens a cycle"


def gain_lines(found: SpeculationGain) -> Iterator[str]:
    """The gain or the loss for what was asked, and where a gain turns into a loss."""
    yield drafts_text(found)
    figures = []
    for name, value, without in (
        ("TTFT", found.ttft, found.ttft_without),
        ("TPOT", found.tpot, found.tpot_without),
    ):
        if value is not None and without is not None:
            figures.append(f"{name} {show(value, SECONDS)} ({show(without, SECONDS)} {_WITHOUT})")
    if found.throughput is not None and found.throughput_without is not None:
        figures.append(f"{whole_text(found.throughput)} tokens/s ({whole_text(found.throughput_without)} {_WITHOUT})")
    if found.gain is not None:
        load = ", under this load" if found.under_load else ""
        yield f"{_times(found.gain)} for each user{load}: {', '.join(figures)}"
    yield loss_text(found)
    if found.tree is not None:
        tree = found.tree
        yield (
            f"TPOT {show(tree.level_tpot, SECONDS)} if a level is drafted at a time and all {tree.positions} positions "
            f"are verified; {show(tree.branch_tpot, SECONDS)} if {tree.leaves} tokens are drafted one after another "
            "and they alone are verified, as DFModel counts"
        )


def loss_text(found: SpeculationGain) -> str:
    """Return from which batch on drafts are a loss; under a load, that these are batches given at once."""
    if not found.batches:
        return "no batch fits beside the drafter"
    whose = "static batches, without prompts that arrive between their tokens: " if found.under_load else ""
    if found.loss_from is None:
        return f"{whose}a gain at every batch that fits, up to {found.batches[-1].batch:,}"
    if found.loss_from <= found.batches[0].batch:
        return f"{whose}a loss at every batch"
    return f"{whose}a loss from batch {found.loss_from:,} on"


def _times(gain: float) -> str:
    return f"a gain: {gain:.2f} times as fast" if gain >= 1.0 else f"a loss: {gain:.2f} times as fast"


def gain_sheets(found: SpeculationGain) -> Iterator[Sheet]:
    """Gains against the batch, and by the window."""
    if found.batches:
        titles = ("batch", "TPOT", "without drafts", "gain")
        cells = tuple(
            (f"{row.batch:,}", show(row.tpot, SECONDS), show(row.tpot_without, SECONDS), f"{row.gain:.2f} ×")
            for row in found.batches
        )
        yield Sheet(title="Gain against the batch", columns=titles, rows=cells, numbers=frozenset(titles))
    if found.windows:
        best = min(found.windows, key=lambda window: window.latency).window
        columns = ("drafted", "tokens a cycle", "TPOT", "mean latency", "best")
        rows = tuple(
            (
                str(row.window),
                f"{row.tokens:.2f}",
                show(row.tpot, SECONDS),
                show(row.latency, SECONDS),
                "best" if row.window == best else "",
            )
            for row in found.windows
        )
        yield Sheet(title="By drafted tokens", columns=columns, rows=rows, numbers=frozenset(columns[:4]))
